"""Write user code that uses a whole package: it builds, reads and matches models, and implements and calls methods.

Open unions and enums aren't matched exhaustively, because code that reads them has a default.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ir import Alias, Definition, Field, Model, Schema, Union
from codegen.types import Type

_HEAD = """\
from typing import Any, assert_never
from acp_bindings.{profile} import Agent as BaseAgent, Client as BaseClient, RemoteAgent, RemoteClient
from acp_bindings.{profile} import {names}
ANY: Any = None
"""
_PLAIN = {"string": "str", "integer": "int", "boolean": "bool", "array": "list[Any]"}


def exhaustive_code(profile: str, schema: Schema) -> str:
    """Return a module that uses all of one profile."""
    public = [each for name, each in schema.definitions.items() if name not in schema.envelopes]
    lines = [_HEAD.format(profile=profile, names=", ".join(each.name for each in public))]
    for definition in public:
        lines += _of_definition(schema, definition)
    return "\n".join([*lines, *_of_role(schema, "agent"), *_of_role(schema, "client"), ""])


def _of_definition(schema: Schema, definition: Definition) -> Iterator[str]:
    name = definition.name
    if isinstance(definition, Model):
        fields = schema.fields(name)
        yield f"def build_{name}() -> {name}:\n    return {name}({_keywords(fields, tags=False)})"
        for each in fields:
            yield f"def read_{name}_{each.name}(x: {name}) -> {_type(each)}:\n    return x.{each.name}"
    elif isinstance(definition, Union) and _is_closed(schema, definition):
        yield f"def match_{name}(x: {name}) -> None:"
        yield from (f"    if isinstance(x, {model.name}):\n        return" for model in schema.concrete_models(name))
        yield "    assert_never(x)"
    elif isinstance(definition, Alias):
        values, others = definition.type.enum or ((), None)
        yield f"def match_{name}(x: {name}) -> None:"
        yield from (f"    if x == {value!r}:\n        return" for value in values)
        yield "    assert_never(x)" if values and not others else "    pass"


def _is_closed(schema: Schema, union: Union) -> bool:
    fields = [each for model in schema.concrete_models(union.name) for each in schema.fields(model.name)]
    return not any(marker.startswith("OtherThan") for each in fields for marker in each.markers)


def _of_role(schema: Schema, role: str) -> Iterator[str]:
    mine = [each for each in schema.methods if role in each.handled_by]
    yield f"class My{role}(Base{role.capitalize()}):\n    pass"
    for each in mine:
        yield f"    async def {each.name}(self, request: {each.params}) -> {each.result or 'None'}:"
        yield "        raise NotImplementedError"
    yield f"MADE_{role} = My{role}()"
    yield f"async def call_{role}(remote: Remote{role.capitalize()}) -> None:\n    pass"
    for each in mine:
        for fields in schema.parameter_sets(each):
            yield f"    await remote.{each.name}({_keywords(fields, tags=True)})"


def _keywords(fields: list[Field], *, tags: bool) -> str:
    """Return the required keywords of a call. `tags`: also the tags, which methods take and constructors don't."""
    return ", ".join(f"{each.name}=ANY" for each in fields if each.required and (tags or each.tag is None))


def _type(field: Field) -> str:
    """Return the type of a property, or `object` if it isn't simple."""
    found = _simple(field.type.concrete)
    is_none = field.type.writes_null or (not field.required and field.absent is None)
    return f"{found} | None" if found != "object" and is_none else found


def _simple(kind: Type) -> str:
    return kind.name or _PLAIN.get(kind.kind, "object")
