"""Which findings predict a failure of user code: those that say that such code breaks, of what the failure mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from codegen.diff.compare.shapes import shape_of
from codegen.diff.sources import Side
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from codegen.ir import Model, Schema
from codegen.names import method_name

# How well a finding fits: a property whose class is mentioned too, or what holds it, fits better than its name alone.
_EXACTLY, _PARTLY, _NOT = 2, 1, 0


class Predictions:
    """The findings that say that Python code breaks. One that says it is only risky predicts no type checker's error.

    Args:
        findings: all of them.
        sides: base and head; their schemas say how code gets at a definition that it doesn't name.
    """

    def __init__(self, findings: Iterable[Finding], *sides: Side) -> None:
        self._findings = [each for each in findings if _breaks_python(each)]
        self._holders: dict[str, set[str]] = defaultdict(set[str])
        for profile, snapshot in (item for side in sides for item in side.profiles.items()):
            for name, holder in _holders(snapshot.schema):
                self._holders[f"{profile}.{name}"].add(holder)

    def of(self, mentions: Iterable[set[str]], profiles: set[str]) -> list[Finding]:
        """The findings in these profiles that fit what is mentioned, the closest first.

        What is mentioned further out decides among the findings that fit what is closer.
        """
        candidates = [each for each in self._findings if each.profile in profiles]
        best, names = _NOT, set[str]()
        for more in mentions:
            names |= more
            fits = {each.fingerprint: self._fit(each, names) for each in candidates}
            if max(fits.values(), default=_NOT) > best:
                best = max(fits.values())
                candidates = [each for each in candidates if fits[each.fingerprint] == best]
            if best == _EXACTLY:
                break
        return candidates if best else []

    def _fit(self, finding: Finding, names: set[str]) -> int:
        return max(self._fit_of_symbol(finding, each.split(".")[1:], names) for each in finding.symbols)

    def _fit_of_symbol(self, finding: Finding, symbol: list[str], names: set[str]) -> int:
        if len(symbol) == 3:
            owners = {symbol[1], f".{symbol[1]}", *(f".{method_name(each)}" for each in finding.methods)}
            return _NOT if f".{symbol[2]}" not in names else _EXACTLY if owners & names else _PARTLY
        if not names.isdisjoint((symbol[-1], f".{symbol[-1]}")):
            return _EXACTLY
        is_whole_profile = len(symbol) == 1  # one that the module imports
        return _PARTLY if is_whole_profile or self._holders.get(".".join(symbol), set()) & names else _NOT


def _holders(schema: Schema) -> Iterator[tuple[str, str]]:
    """Definitions, and by what name code gets at each without its own: a property, a class that derives from it."""
    for model in schema.definitions.values():
        if not isinstance(model, Model):
            continue
        yield from ((name, f".{each.name}") for each in model.fields for name in shape_of(each.type.annotation).names())
        base = model.base
        while base is not None:
            yield base, model.name
            base = schema.model(base).base


def _breaks_python(finding: Finding) -> bool:
    verdicts = finding.verdicts
    return Verdict.BREAKING in (verdicts.build, verdicts.read, verdicts.implement)
