"""Check whether one side can read every value that the other side may send, with samples of these values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from codegen.ir import Alias, Schema
from codegen.types import Type, union_of
from codegen.values import Samples, find_scalars, fits


def reads_all(sender: Schema, sent: Type, reader: Schema, read: Type, names: Mapping[str, str]) -> bool:
    """Return whether the reader's type accepts the values of the sender's type; not if there are no samples of them.

    Definitions that correspond by `names`, the reader's by the sender's, count as equal: changes inside them are
    separate findings.
    """
    common = {name: names[name] for name in sent.names if names.get(name) in read.names}
    sent, read = _with_tokens(sent, common), _with_tokens(read, {name: name for name in common.values()})
    shared = {*sent.limits}.intersection(read.limits)
    sent, read = _without(sent, shared), _without(read, shared)
    make = Samples(sender, (*find_scalars(sender, [sent]), *find_scalars(reader, [read]))).make
    samples = make(sent) or make(_without(sent, [each for each in sent.limits if each[0] == "pattern"]))
    return bool(samples) and all(fits(reader, value, read) for value in samples)


def _without(kind: Type, limits: Collection[tuple[str, Any]]) -> Type:
    return replace(kind, limits=tuple(each for each in kind.limits if each not in limits))


def _with_tokens(kind: Type, names: Mapping[str, str]) -> Type:
    """Return a type with a constant that is no JSON, a tuple, in place of each of these definitions."""
    if kind.name in names:
        return Type("literal", values=((names[kind.name],),))
    return replace(kind, parts=tuple(_with_tokens(part, names) for part in kind.parts))


def without_aliases(schema: Schema, found: Type, kept: Collection[str]) -> Type:
    """Return a type without the names of aliases, which mean nothing to JSON or a type checker, except those kept."""
    definition = schema.definitions.get(found.name)
    if isinstance(definition, Alias) and found.name not in kept:
        return without_aliases(schema, definition.type, {*kept, found.name})  # it may contain itself
    parts = [without_aliases(schema, part, kept) for part in found.parts]
    return union_of(parts) if found.kind == "union" else replace(found, parts=tuple(parts))
