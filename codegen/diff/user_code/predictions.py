"""Looks up the breaking findings that predict a failure: those about a name in its message or in nearby code."""

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

# How well a finding matches. A property matches exactly if its class, or a method with it in a message, is named too.
_EXACTLY, _PARTLY, _NOT = 2, 1, 0


class Code(NamedTuple):
    """A module of user code.

    Attributes:
        name: the path of its file.
        tree: the syntax tree.
        lines: all lines.
        words: all words. They include the names of the profiles that it uses.
    """

    name: str
    tree: ast.AST
    lines: list[str]
    words: set[str]


class Predictions:
    """Looks up the findings that break Python code, by the names that a failure mentions.

    Args:
        findings: all findings.
        sides: base and head. Their schemas say through which names code reaches a definition.
    """

    def __init__(self, findings: Iterable[Finding], *sides: Side) -> None:
        self.findings = [finding for finding in findings if finding.breaks_python]
        self._holders: dict[str, set[str]] = defaultdict(set[str])
        for profile, snapshot in (item for side in sides for item in side.profiles.items()):
            for name, holder in _find_holders(snapshot.schema):
                self._holders[f"{profile}.{name}"].add(holder)

    def find(self, problem: Problem, code: Code) -> tuple[Failure, tuple[Finding, ...]]:
        """Return a problem as a failure, and the findings that match best the names that it mentions."""
        source = code.lines[problem.line - 1].strip()
        failure = Failure(code.name, problem.line, source, problem.message)
        candidates = [finding for finding in self.findings if finding.profile in code.words]
        best = _NOT
        names: set[str] = set()
        for mentioned in _find_mentions(problem, code):  # later names only choose among the findings that match
            names |= mentioned
            matches = {finding.fingerprint: self._match(finding, names) for finding in candidates}
            if max(matches.values(), default=_NOT) > best:
                best = max(matches.values())
                candidates = [finding for finding in candidates if matches[finding.fingerprint] == best]
            if best == _EXACTLY:
                break
        return failure, () if best == _NOT else tuple(candidates)

    def _match(self, finding: Finding, names: set[str]) -> int:
        return max(
            self._match_symbol(place, symbol.split(".")[1:], names)
            for place in finding.places
            for symbol in place.symbols
        )

    def _match_symbol(self, finding: Finding, symbol: list[str], names: set[str]) -> int:
        if len(symbol) == 3:
            _, owner, attribute = symbol
            if f".{attribute}" not in names:
                return _NOT
            owners = {owner, f".{owner}", *(f".{method_name(method)}" for method in finding.methods)}
            return _EXACTLY if owners & names else _PARTLY
        if names & {symbol[-1], f".{symbol[-1]}"}:
            return _EXACTLY
        is_whole_profile = len(symbol) == 1  # which the user code imports
        is_held = bool(self._holders.get(".".join(symbol), set()) & names)
        return _PARTLY if is_whole_profile or is_held else _NOT


def _find_holders(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield definitions with the names through which code reaches them: properties of their type, derived classes."""
    for model in schema.definitions.values():
        if isinstance(model, Model):
            yield from ((name, f".{field.name}") for field in model.fields for name in field.type.names)
            # Derived classes are imported, or in an imported module.
            yield from ((base, name) for base in schema.bases(model.name) for name in (model.name, f".{model.name}"))


def _find_mentions(problem: Problem, code: Code) -> Iterator[set[str]]:
    """Yield sets of names: from the message, then from the statements around the line, from the inside out.

    Names of properties and methods start with a dot, names of classes and values don't. A quoted name or a keyword may
    be either, so both forms are yielded.
    """
    yield set(_find_quoted_names(problem))
    statements = [node for node in ast.walk(code.tree) if isinstance(node, ast.stmt)]
    for statement in reversed(statements):  # `walk` gives the outer ones first
        start, end = statement.lineno, statement.end_lineno or statement.lineno
        if start <= problem.line <= end:
            yield set(_find_names("\n".join(code.lines[start - 1 : end])))


def _find_quoted_names(problem: Problem) -> Iterator[str]:
    """Yield the names that a message quotes, and the parameters in its hint."""
    for text in re.findall(r'"([^"]*)"', problem.message.split("; maybe ")[0]):
        yield from (name for word in re.findall(r"\w+", text) for name in (word, f".{word}"))
    if problem.kind == "call-overload":
        yield from (f".{name}" for name in re.findall(r"(\w+):", problem.hint))


def _find_names(code: str) -> Iterator[str]:
    for dot, name, keyword in re.findall(r"(\.?)\b([A-Za-z_]\w*)\b(=?)", code):
        yield f"{dot}{name}"
        if keyword:
            yield f".{name}"
