"""Find the findings that predict a failure of user code: breaking ones about a name that the failure mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from codegen.diff.match.shapes import shape_of
from codegen.diff.sources import Side
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from codegen.ir import Model, Schema
from codegen.names import method_name

# How well a finding matches. A property matches exactly if its class, or a method that carries it, is mentioned too.
_EXACTLY, _PARTLY, _NOT = 2, 1, 0


class Predictions:
    """The findings that are breaking for Python code, to look up by the names that a failure mentions.

    Args:
        findings: all findings. Those that are only risky predict no failure of a type checker.
        sides: base and head. Their schemas tell how code reaches a definition without naming it.
    """

    def __init__(self, findings: Iterable[Finding], *sides: Side) -> None:
        self.findings = [each for each in findings if _breaks_python(each)]
        self._holders: dict[str, set[str]] = defaultdict(set[str])
        for profile, snapshot in (item for side in sides for item in side.profiles.items()):
            for name, holder in _holders(snapshot.schema):
                self._holders[f"{profile}.{name}"].add(holder)

    def matching(self, mentions: Iterable[set[str]], profiles: set[str]) -> list[Finding]:
        """Return the findings in these profiles that match the mentioned names best.

        Args:
            mentions: sets of names, the closest first. Later sets only choose among findings that match earlier ones.
            profiles: the profiles that the user code imports.
        """
        candidates = [each for each in self.findings if each.profile in profiles]
        best, names = _NOT, set[str]()
        for more in mentions:
            names |= more
            matches = {each.fingerprint: self._match(each, names) for each in candidates}
            if max(matches.values(), default=_NOT) > best:
                best = max(matches.values())
                candidates = [each for each in candidates if matches[each.fingerprint] == best]
            if best == _EXACTLY:
                break
        return candidates if best else []

    def _match(self, finding: Finding, names: set[str]) -> int:
        return max(self._match_symbol(finding, each.split(".")[1:], names) for each in finding.symbols)

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
        if not isinstance(model, Model):
            continue
        yield from ((name, f".{each.name}") for each in model.fields for name in shape_of(each.type.annotation).names())
        base = model.base
        while base is not None:
            yield from ((base, name) for name in (model.name, f".{model.name}"))  # imported, or in an imported module
            base = schema.model(base).base


def _breaks_python(finding: Finding) -> bool:
    verdicts = finding.verdicts
    return Verdict.BREAKING in (verdicts.build, verdicts.read, verdicts.implement)
