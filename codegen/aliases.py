"""Reads `names.toml`: the Python names of what has no name by rule."""

from __future__ import annotations

import json
import keyword
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel

from codegen.names import is_attribute_name, is_class_name
from codegen.nodes import REF_PREFIX, is_array, is_object
from codegen.toml import Text, parse_toml, read_file, validate

FILE = "codegen/names.toml"
NAMES_TOML = Path(__file__).with_name("names.toml")


def _check_attribute(name: str) -> str:
    if not is_attribute_name(name):
        raise ValueError(f"{name!r} can't be the name of an attribute")
    return name


def _check_class(name: str) -> str:
    if not is_class_name(name):
        raise ValueError(f"{name!r} can't be the name of a class")
    return name


def _check_method(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ValueError(f"{name!r} can't be the name of a method")
    return name


_Attribute: TypeAlias = Annotated[str, AfterValidator(_check_attribute)]
_Class: TypeAlias = Annotated[str, AfterValidator(_check_class)]
_Method: TypeAlias = Annotated[str, AfterValidator(_check_method)]


class Aliases(BaseModel, extra="forbid"):
    """The tables of the file."""

    attributes: dict[Text, _Attribute] = {}
    classes: dict[Text, _Class] = {}
    methods: dict[Text, _Method] = {}

    def rename_definitions(self, schema: Any) -> Any:
        """Return a schema whose definitions have the names of their classes."""
        named = {REF_PREFIX + name: REF_PREFIX + alias for name, alias in self.classes.items()}
        if not named or not is_object(schema) or not is_object(schema.get("$defs")):
            return schema
        definitions = {self.classes.get(name, name): definition for name, definition in schema["$defs"].items()}
        return _replace_references({**schema, "$defs": definitions}, named)


def _replace_references(schema: Any, names: dict[str, str]) -> Any:
    if is_array(schema):
        return [_replace_references(item, names) for item in schema]
    if is_object(schema):
        replaced = {key: _replace_references(value, names) for key, value in schema.items()}
        return {**replaced, "$ref": names.get(schema["$ref"], schema["$ref"])} if _has_reference(schema) else replaced
    return schema


def _has_reference(schema: dict[str, Any]) -> bool:
    return isinstance(schema.get("$ref"), str)


def read_aliases() -> Aliases:
    """Return the content of the file.

    Raises:
        FileError: it is missing or invalid.
    """
    return _parse(read_file(NAMES_TOML, FILE))


@lru_cache(maxsize=1)
def _parse(content: bytes) -> Aliases:
    return validate(Aliases, parse_toml(content, FILE), FILE)


def write_next_step(table: str, name: str, alias: str) -> str:
    """Return a sentence that says which entry gives something a name."""
    return f"Name it in [{table}] of {FILE}, for example: {json.dumps(name)} = {json.dumps(alias)}."
