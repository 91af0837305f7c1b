"""What changed among definitions: which there are, what they are called, and what each says."""

from __future__ import annotations

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.fits import Fits
from codegen.diff.compare.models import compare_models
from codegen.diff.compare.pointers import at, references
from codegen.diff.compare.types import compare_types
from codegen.diff.compare.unions import compare_unions
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, SAFE, Verdicts, breaks
from codegen.ir import Alias, Definition, Model, Schema, Union
from codegen.read.canonical import canonical

_KINDS = {Model: "object", Union: "union", Alias: "alias"}


def compare_definitions(comparison: Comparison, old_unstable: Schema | None, new_unstable: Schema | None) -> None:
    """All definitions. The unstable schemas of both sides say what moved between unstable and stable."""
    taken = set(comparison.names.values())
    for definition in comparison.old.schema.definitions.values():
        if definition.name not in comparison.names and _is_own(definition):
            left = new_unstable is not None and definition.name in new_unstable.definitions
            rule = "definition-left-stable" if left else "definition-removed"
            symbols = comparison.symbols(*_classes(comparison.old.schema, definition))
            comparison.add(rule, definition, None, old=definition.pointer, symbols=symbols)
    for definition in comparison.new.schema.definitions.values():
        if definition.name not in taken and _is_own(definition):
            was_unstable = old_unstable is not None and definition.name in old_unstable.definitions
            rule = "definition-stabilised" if was_unstable else "definition-added"
            comparison.add(rule, None, definition, new=definition.pointer)
    for old, new in comparison.pairs():
        _compare(comparison, old, new)


def _is_own(definition: Definition) -> bool:
    """Whether it is a definition of the schema, not a member of a union: those come and go with their union."""
    return definition.pointer == f"/$defs/{definition.name}"


def _classes(schema: Schema, definition: Definition) -> list[Definition]:
    """A definition and the members that come and go with it."""
    within = f"{definition.pointer}/"
    members = [each for each in schema.definitions.values() if each.pointer.startswith(within)]
    return [definition, *members]


def _both_classes(comparison: Comparison, old: Definition, new: Definition) -> tuple[str, ...]:
    return comparison.symbols(*_classes(comparison.new.schema, new), *_classes(comparison.old.schema, old))


def _compare(comparison: Comparison, old: Definition, new: Definition) -> None:
    if old.name != new.name and _is_own(old) and _is_own(new):
        _renamed(comparison, old, new)
    if isinstance(old, Model) and isinstance(new, Model):
        compare_models(comparison, old, new)
    elif isinstance(old, Union) and isinstance(new, Union):
        compare_unions(comparison, old, new)
    elif isinstance(old, Alias) and isinstance(new, Alias):
        for change in compare_types(comparison, old.type, new.type):
            comparison.add(
                change.rule,
                old,
                new,
                old=old.pointer,
                new=new.pointer,
                verdicts=change.verdicts,
                texts=(change.before, change.after),
            )
    elif not _follows(comparison, old, new):
        _kind_changed(comparison, old, new)


def _follows(comparison: Comparison, old: Definition, new: Definition) -> bool:
    """Whether a union's member says what it said, and is something else because what it wraps is."""
    before, after = at(comparison.old.raw, old.pointer), at(comparison.new.raw, new.pointer)
    return not _is_own(new) and bool(canonical(before) == canonical(after))


def _renamed(comparison: Comparison, old: Definition, new: Definition) -> None:
    payloads = {name for method in comparison.old.schema.methods for name in (method.params, method.result)}
    verdicts = RULES["definition-renamed"].verdicts
    if old.name in payloads:
        verdicts = Verdicts(SAFE, SAFE, BREAKING, BREAKING, BREAKING)
    covers = [*references(comparison.old.raw, old.name), *references(comparison.new.raw, new.name)]
    comparison.add(
        "definition-renamed",
        old,
        new,
        old=old.pointer,
        new=new.pointer,
        verdicts=verdicts,
        texts=(old.name, new.name),
        symbols=_both_classes(comparison, old, new),
        covers=tuple(covers),
    )


def _kind_changed(comparison: Comparison, old: Definition, new: Definition) -> None:
    """An object that became a union, and the like: judged by whether one side reads what the other sends."""
    gained = not Fits(comparison.new.schema, comparison.old.schema, {}).definition(new, old)
    lost = not Fits(comparison.old.schema, comparison.new.schema, {}).definition(old, new)
    comparison.add(
        "definition-kind-changed",
        old,
        new,
        old=old.pointer,
        new=new.pointer,
        verdicts=Verdicts(breaks(gained), breaks(lost), BREAKING, BREAKING),
        texts=(_KINDS[type(old)], _KINDS[type(new)]),
        symbols=_both_classes(comparison, old, new),
    )
