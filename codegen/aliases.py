"""Reads `names.toml`: the Python names of what has no name by rule."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel

from codegen.errors import SchemaError
from codegen.names import is_attribute_name, is_class_name
from codegen.nodes import REF_PREFIX, is_array, is_object
from codegen.toml import Text, parse_toml, read_file, validate

FILE = "codegen/names.toml"
NAMES_TOML = Path(__file__).with_name("names.toml")


def _is_method_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _make_validator(noun: str, is_valid: Callable[[str], bool]) -> AfterValidator:
    """Return a validator of the names of attributes, classes or methods."""

    def check(name: str) -> str:
        if not is_valid(name):
            raise ValueError(f"{name!r} can't be the name of {noun}")
        return name

    return AfterValidator(check)


_Attribute: TypeAlias = Annotated[str, _make_validator("an attribute", is_attribute_name)]
_Class: TypeAlias = Annotated[str, _make_validator("a class", is_class_name)]
_Method: TypeAlias = Annotated[str, _make_validator("a method", _is_method_name)]


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
        for name, alias in self.classes.items():
            if name in schema["$defs"] and (alias in schema["$defs"] or list(self.classes.values()).count(alias) > 1):
                message = f"{FILE} names it {alias}, but so is another definition."
                raise SchemaError(f"/$defs/{name}", message, next_step="Choose another name.")
        return _replace_references({**schema, "$defs": definitions}, named)


def _replace_references(schema: Any, names: dict[str, str]) -> Any:
    if is_array(schema):
        return [_replace_references(item, names) for item in schema]
    if is_object(schema):
        return {key: _replace_references(value, names) for key, value in schema.items()}
    return names.get(schema, schema) if isinstance(schema, str) else schema


def read_aliases() -> Aliases:
    """Return the content of the file.

    Raises:
        FileError: it is missing or invalid.
    """
    return _parse(read_file(NAMES_TOML, FILE))


@lru_cache(maxsize=1)
def _parse(content: bytes) -> Aliases:
    return validate(Aliases, parse_toml(content, FILE), FILE)


def suggest_entry(table: str, name: str, alias: str) -> str:
    """Return a sentence that says which entry gives something a name."""
    return f"Name it in [{table}] of {FILE}, for example: {json.dumps(name)} = {json.dumps(alias)}."
