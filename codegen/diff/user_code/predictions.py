"""Find the findings that predict a failure of user code: breaking ones about a name that the failure mentions."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from codegen.diff.sources import Side
from codegen.diff.user_code.type_checker import Problem
from codegen.diff.verdict.findings import Failure, Finding
from codegen.ir import Model, Schema
from codegen.names import method_name

# How well a finding matches. A property matches exactly if its class, or a method that carries it, is mentioned too.
_EXACTLY, _PARTLY, _NOT = 2, 1, 0


class Code(NamedTuple):
    """A module of user code.

    Attributes:
        name: the path of its file.
        tree: the syntax tree.
        lines: all lines.
        words: all words. The names of profiles among them are the profiles that it uses.
    """

    name: str
    tree: ast.AST
    lines: list[str]
    words: set[str]


class Predictions:
    """The findings that are breaking for Python code, to look up by the names that a failure mentions.

    Args:
        findings: all findings. Those that are only risky predict no failure of a type checker.
        sides: base and head. Their schemas tell how code reaches a definition without naming it.
    """

    def __init__(self, findings: Iterable[Finding], *sides: Side) -> None:
        self.findings = [each for each in findings if each.breaks_python]
        self._holders: dict[str, set[str]] = defaultdict(set[str])
        for profile, snapshot in (item for side in sides for item in side.profiles.items()):
            for name, holder in _holders(snapshot.schema):
                self._holders[f"{profile}.{name}"].add(holder)

    def of(self, problem: Problem, code: Code) -> tuple[Failure, tuple[Finding, ...]]:
        """Return a problem in some code as a failure, and the findings that match the names that it mentions best."""
        source = code.lines[problem.line - 1].strip()
        failure = Failure(code.name, problem.line, source, problem.message)
        candidates = [each for each in self.findings if each.profile in code.words]
        best, names = _NOT, set[str]()
        for more in _mentions(problem, code):  # the later ones only choose among findings that match earlier ones
            names |= more
            matches = {each.fingerprint: self._match(each, names) for each in candidates}
            if max(matches.values(), default=_NOT) > best:
                best = max(matches.values())
                candidates = [each for each in candidates if matches[each.fingerprint] == best]
            if best == _EXACTLY:
                break
        return failure, tuple(candidates) if best else ()

    def _match(self, finding: Finding, names: set[str]) -> int:
        return max(
            self._match_symbol(place, symbol.split(".")[1:], names)
            for place in finding.places
            for symbol in place.symbols
        )

    def _match_symbol(self, finding: Finding, symbol: list[str], names: set[str]) -> int:
        if len(symbol) == 3:
            owners = {symbol[1], f".{symbol[1]}", *(f".{method_name(each)}" for each in finding.methods)}
            return _NOT if f".{symbol[2]}" not in names else _EXACTLY if owners & names else _PARTLY
        if not names.isdisjoint((symbol[-1], f".{symbol[-1]}")):
            return _EXACTLY
        is_whole_profile = len(symbol) == 1  # the user code imports it
        return _PARTLY if is_whole_profile or self._holders.get(".".join(symbol), set()) & names else _NOT


def _holders(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield each definition with a name through which code reaches it: a property of its type, or a derived class."""
    for model in schema.definitions.values():
        if isinstance(model, Model):
            yield from ((name, f".{each.name}") for each in model.fields for name in each.type.names)
            # Derived classes are imported, or in an imported module.
            yield from ((base, name) for base in schema.bases(model.name) for name in (model.name, f".{model.name}"))


def _mentions(problem: Problem, code: Code) -> Iterator[set[str]]:
    """Yield sets of names, the closest first: from the message, and from the statements around the line, inside out.

    Names of properties and methods start with a dot; names of classes and values don't. A name quoted in a message, or
    that of a keyword, may be either, so it is in both forms.
    """
    yield set(_quoted_names(problem))
    statements = [each for each in ast.walk(code.tree) if isinstance(each, ast.stmt)]
    for start, end in reversed([(each.lineno, each.end_lineno or each.lineno) for each in statements]):
        if start <= problem.line <= end:
            yield set(_names("\n".join(code.lines[start - 1 : end])))


def _quoted_names(problem: Problem) -> Iterator[str]:
    """Yield the names that a message quotes, and the parameters that its hint proposes."""
    for text in re.findall(r'"([^"]*)"', problem.message.split("; maybe ")[0]):
        yield from (name for word in re.findall(r"\w+", text) for name in (word, f".{word}"))
    if problem.kind == "call-overload":
        yield from (f".{name}" for name in re.findall(r"(\w+):", problem.hint))


def _names(code: str) -> Iterator[str]:
    for dot, name, keyword in re.findall(r"(\.?)\b([A-Za-z_]\w*)\b(=?)", code):
        yield f"{dot}{name}"
        if keyword:
            yield f".{name}"
