"""Writes the JSON Schema from which datamodel-code-generator makes the models.

It has the IR's definitions in their order. Union members are definitions, and properties have Python names. Our
templates add what datamodel-code-generator doesn't support: markers, tags and docstrings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from codegen.ir import Definition, Field, Model
from codegen.types import FORMATS, Type

Json = dict[str, Any]
BASE = "acp_runtime.models.model.Model"
_OPEN_BASE = "acp_runtime.models.model.OpenModel"
_SCALARS = "acp_runtime.models.scalars"


def write_json_schema(definitions: Iterable[Definition], paths: Mapping[str, str]) -> Json:
    """Return a JSON Schema of these definitions, which imports the scalars with a format.

    Args:
        definitions: the definitions.
        paths: the name of each in the JSON Schema, which begins with its module: `content.TextContent`.
    """
    imported = {name: {"x-python-import": {"module": _SCALARS, "name": name}} for name in FORMATS.values()}
    written = {paths[definition.name]: _write_definition(definition, paths) for definition in definitions}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {**imported, **written}}


def _write_definition(definition: Definition, paths: Mapping[str, str]) -> Json:
    if not isinstance(definition, Model):
        return _write_type(definition.type.renamed(paths))
    schema: Json = {
        "type": "object",
        "properties": {field.name: _write_property(field, paths) for field in definition.fields},
        "required": [field.name for field in definition.fields if not field.has_plain_default],
    }
    if definition.base:
        schema["allOf"] = [_write_ref(paths[definition.base])]
    elif definition.is_open:
        schema["customBasePath"] = _OPEN_BASE
    return schema


def _write_property(field: Field, paths: Mapping[str, str]) -> Json:
    schema = _write_type(field.attribute_type.renamed(paths))
    return {**schema, "default": field.default} if field.has_plain_default else schema


def _write_type(type_: Type) -> Json:
    if type_.name or type_.format:
        return _write_ref(type_.name or FORMATS[type_.format])
    match type_.kind:
        case "literal":
            return {"enum": list(type_.values)}
        case "array":
            return {"type": "array", "items": _write_type(type_.parts[0])}
        case "map":
            return {"type": "object", "additionalProperties": _write_type(type_.parts[0])}
        case "union":
            return _write_union(type_)
        case scalar:
            return {} if scalar == "any" else {"type": scalar}


def _write_union(type_: Type) -> Json:
    """Return a list of two types if that is possible, because it is faster; otherwise `anyOf`.

    A list of types would lose the type of a map's values.
    """
    concrete = _write_type(type_.non_null) if type_.lists_null else {}
    if concrete.get("type", "object") == "object":
        return {"anyOf": [_write_type(part) for part in type_.parts]}
    return {**concrete, "type": [concrete["type"], "null"]}


def _write_ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}
