"""Writes the JSON Schema from which datamodel-code-generator makes the models.

It has the definitions of the IR in their order: every union member is a definition, every property has its Python
name. What datamodel-code-generator has no word for is left out, and our templates add it: markers, tags, docstrings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from codegen.ir import Definition, Field, Model
from codegen.types import FORMATS, Type

Json = dict[str, Any]
_RUNTIME = "acp_runtime.models"
BASE = f"{_RUNTIME}.model.Model"


def json_schema(definitions: Iterable[Definition]) -> Json:
    """Return a schema of these definitions. The scalars with a format are imported in it."""
    scalars = {name: imported(f"{_RUNTIME}.scalars", name) for name in FORMATS.values()}
    own = {definition.name: _definition(definition) for definition in definitions}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {**scalars, **own}}


def imported(module: str, name: str) -> Json:
    return {"x-python-import": {"module": module, "name": name}}


def _definition(definition: Definition) -> Json:
    if not isinstance(definition, Model):
        return _type(definition.type)
    schema: Json = {"type": "object", "properties": {field.name: _property(field) for field in definition.fields}}
    schema["required"] = [field.name for field in definition.fields if not field.has_plain_default]
    if definition.base:
        schema["allOf"] = [_ref(definition.base)]
    elif definition.is_open:
        schema["customBasePath"] = f"{_RUNTIME}.model.OpenModel"
    return schema


def _property(field: Field) -> Json:
    return {**_type(field.read), "default": field.absent} if field.has_plain_default else _type(field.read)


def _type(kind: Type) -> Json:
    if kind.name or kind.format:
        return _ref(kind.name or FORMATS[kind.format])
    match kind.kind:
        case "literal":
            return {"enum": list(kind.values)}
        case "array":
            return {"type": "array", "items": _type(kind.parts[0])}
        case "map":
            return {"type": "object", "additionalProperties": _type(kind.parts[0])}
        case "union":
            return _union(kind)
        case scalar:
            return {} if scalar == "any" else {"type": scalar}


def _union(kind: Type) -> Json:
    """Return `anyOf`, or a list of two types, which takes less time. In such a list, a map would lose its values."""
    concrete = _type(kind.concrete) if kind.writes_null else {}
    if concrete.get("type", "object") == "object":
        return {"anyOf": [_type(part) for part in kind.parts]}
    return {**concrete, "type": [concrete["type"], "null"]}


def _ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}
