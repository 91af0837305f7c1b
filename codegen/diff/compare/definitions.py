"""Compares definitions: which were added, removed or renamed, and what changed in each.

Changed descriptions are only counted, because no code depends on them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from codegen.diff.compare.comparison import Comparison, note_deprecation
from codegen.diff.compare.models import compare_models
from codegen.diff.compare.pointers import resolve
from codegen.diff.compare.types import compare_types, find_deprecated_values
from codegen.diff.compare.unions import compare_unions
from codegen.diff.match import structure_of
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import breaks
from codegen.ir import Alias, Definition, Model, Schema, Union, is_inline

_KINDS = {Model: "object", Union: "union", Alias: "alias"}


def compare_definitions(comparison: Comparison) -> None:
    """Compare all definitions. The unstable schemas of both sides say which ones became stable or unstable."""
    old, new = comparison.old.schema, comparison.new.schema
    for definition in _find_others(comparison, old, comparison.names.keys()):
        is_unstable = definition.name in comparison.new_unstable.definitions
        rule = "definition-left-stable" if is_unstable else "definition-removed"
        comparison.add(rule, definition, None, symbols=comparison.python_names(*_find_classes(old, definition)))
    for definition in _find_others(comparison, new, set(comparison.names.values())):
        was_unstable = definition.name in comparison.old_unstable.definitions
        comparison.add("definition-stabilised" if was_unstable else "definition-added", None, definition)
    for before, after in comparison.find_pairs():
        _compare(comparison, before, after)
    _compare_old_names(comparison)


def _find_others(comparison: Comparison, schema: Schema, known: Collection[str]) -> list[Definition]:
    """Return the definitions that only this side has, except inline members and those that a method's finding names.

    Inline members are compared with their union.
    """
    known = {*known, *comparison.named_by_methods}
    return [item for item in schema.definitions.values() if item.name not in known and not is_inline(item)]


def _find_classes(schema: Schema, definition: Definition) -> list[Definition]:
    """Return a definition and its inline members."""
    prefix = f"{definition.pointer}/"
    return [definition, *(item for item in schema.definitions.values() if item.pointer.startswith(prefix))]


def _name_classes_of_both(comparison: Comparison, old: Definition, new: Definition) -> tuple[str, ...]:
    return comparison.python_names(
        *_find_classes(comparison.new.schema, new), *_find_classes(comparison.old.schema, old)
    )


def _compare(comparison: Comparison, old: Definition, new: Definition) -> None:
    if old.name != new.name and not is_inline(old) and not is_inline(new):
        _add_renamed(comparison, old, new)
    is_payload = new.name in {method.params for method in comparison.new.schema.methods}
    if old.deprecated != new.deprecated and not is_payload:
        comparison.add("definition-deprecated", old, new, texts=note_deprecation(old, new))
    if isinstance(old, Model) and isinstance(new, Model):
        compare_models(comparison, old, new)
    elif isinstance(old, Union) and isinstance(new, Union):
        compare_unions(comparison, old, new)
    elif isinstance(old, Alias) and isinstance(new, Alias):
        for change in compare_types(comparison, old.type, new.type):
            gated = change.gated(comparison, old.name, new.name)
            comparison.add(
                gated.rule,
                old,
                new,
                verdicts=gated.verdicts,
                texts=(gated.before, gated.after),
                sent_texts=(change.before, change.after),
                reading_code=f"value: {old.type.hint} = new  # new: {new.name}",
            )
        for value, texts in find_deprecated_values(comparison, old.pointer, new.pointer):
            comparison.add("type-part-deprecated", old, new, subject=f"{new.name}:{value}", texts=texts)
    elif not _is_consequence(comparison, old, new):
        rule = "definition-kind-changed"
        comparison.add(
            rule,
            old,
            new,
            verdicts=comparison.rate_replacement(rule, old.name, new.name),
            texts=(_KINDS[type(old)], _KINDS[type(new)]),
            symbols=_name_classes_of_both(comparison, old, new),
        )


def _is_consequence(comparison: Comparison, old: Definition, new: Definition) -> bool:
    """Return whether an inline member is unchanged: its kind differs because the definition that it wraps changed."""
    before, after = resolve(comparison.old.raw, old.pointer), resolve(comparison.new.raw, new.pointer)
    return is_inline(new) and bool(before == after)


def _add_renamed(comparison: Comparison, old: Definition, new: Definition) -> None:
    before = structure_of(comparison.old.schema, old, comparison.names)
    equal = before.count_equal(structure_of(comparison.new.schema, new, {}))
    renamed = comparison.describe_rename(old.name, new.name)._replace(equal=equal)
    implement = breaks(old.name in comparison.old.schema.payloads)
    verdicts = RULES["definition-renamed"].verdicts._replace(implement=implement)
    comparison.add(
        "definition-renamed",
        old,
        new,
        verdicts=verdicts.with_old_name_kept() if renamed.until else verdicts,
        texts=(old.name, new.name),
        symbols=_name_classes_of_both(comparison, old, new),
        renamed=renamed,
    )


def _compare_old_names(comparison: Comparison) -> None:
    """Find old names that the base keeps and the head doesn't. An inline member's old name goes with its union's."""
    old, new = comparison.old.schema, comparison.new.schema
    names = comparison.names
    meaning = {old_name.old: old_name.new for old_name in new.old_names} | {name: name for name in new.definitions}
    dropped = [
        old_name
        for old_name in old.old_names
        if old_name.new in names and meaning.get(old_name.old) != names[old_name.new]
    ]
    of_definitions = tuple(item.old for item in dropped if not is_inline(old.definitions[item.new]))
    rule = "definition-old-name-removed"
    for old_name in dropped:
        if old_name.old in of_definitions or not old_name.old.startswith(of_definitions):
            before, after = old.definitions[old_name.new], new.definitions[names[old_name.new]]
            implement = breaks(before.name in old.payloads)
            comparison.add(
                rule,
                before,
                after,
                subject=old_name.old,
                verdicts=RULES[rule].verdicts._replace(implement=implement),
                texts=(f"{old_name.old} = {old_name.new}", ""),
                symbols=tuple(
                    comparison.python_name(item.old) for item in dropped if item.old.startswith(old_name.old)
                ),
            )


def count_changed_descriptions(comparison: Comparison) -> int:
    """Count the changed descriptions of definitions and properties that both sides have."""
    pairs = [pair for old, new in comparison.find_pairs() for pair in _pair_descriptions(old, new)]
    return sum(before != after for before, after in pairs)


def _pair_descriptions(old: Definition, new: Definition) -> Iterator[tuple[str, str]]:
    """Yield the descriptions of a definition and its properties. Those of types that changed list other values."""
    if not isinstance(old, Alias) or not isinstance(new, Alias) or old.type == new.type:
        yield old.doc, new.doc
    if isinstance(old, Model) and isinstance(new, Model):
        fields = {field.wire: field for field in new.fields}
        pairs = ((field, fields[field.wire]) for field in old.fields if field.wire in fields)
        yield from ((before.doc, after.doc) for before, after in pairs if before.type == after.type)
