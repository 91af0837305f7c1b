"""Reads `names.toml`: Python names that a person has chosen, because the rules of `codegen.names` give none."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel

from codegen.errors import SchemaError
from codegen.names import attribute_name, is_attribute_name, is_class_name, is_method_name
from codegen.nodes import REF_PREFIX, is_array, is_object
from codegen.toml import Text, parse_toml, read_file, validate

FILE = "codegen/names.toml"
NAMES_TOML = Path(__file__).with_name("names.toml")


def _make_validator(noun: str, is_valid: Callable[[str], bool]) -> AfterValidator:
    """Return a validator of the names of attributes, classes or methods."""

    def check(name: str) -> str:
        if not is_valid(name):
            raise ValueError(f"{name!r} can't be the name of {noun}")
        return name

    return AfterValidator(check)


_Attribute: TypeAlias = Annotated[str, _make_validator("an attribute", is_attribute_name)]
_Class: TypeAlias = Annotated[str, _make_validator("a class", is_class_name)]
_Method: TypeAlias = Annotated[str, _make_validator("a method", is_method_name)]


class ChosenNames(BaseModel, extra="forbid"):
    """The tables of the file."""

    attributes: dict[Text, _Attribute] = {}
    classes: dict[Text, _Class] = {}
    methods: dict[Text, _Method] = {}

    def rename_definitions(self, schema: Any) -> Any:
        """Return a schema whose definitions have the names of their classes."""
        if not self.classes or not is_object(schema) or not is_object(schema.get("$defs")):
            return schema
        counts = Counter(self.classes.values())
        for name, chosen in self.classes.items():
            if name in schema["$defs"] and (chosen in schema["$defs"] or counts[chosen] > 1):
                message = f"{FILE} names it {chosen}, but so is another definition."
                raise SchemaError(f"/$defs/{name}", message, next_step="Choose another name.")
        definitions = {self.classes.get(name, name): definition for name, definition in schema["$defs"].items()}
        references = {REF_PREFIX + name: REF_PREFIX + chosen for name, chosen in self.classes.items()}
        return _replace_references({**schema, "$defs": definitions}, references)


def _replace_references(schema: Any, references: dict[str, str]) -> Any:
    if is_array(schema):
        return [_replace_references(item, references) for item in schema]
    if is_object(schema):
        return {key: _replace_references(value, references) for key, value in schema.items()}
    return references.get(schema, schema) if isinstance(schema, str) else schema


def read_chosen_names() -> ChosenNames:
    """Return the content of the file.

    Raises:
        FileError: it is missing or invalid.
    """
    return _parse(read_file(NAMES_TOML, FILE))


@lru_cache(maxsize=1)
def _parse(content: bytes) -> ChosenNames:
    return validate(ChosenNames, parse_toml(content, FILE), FILE)


def find_attribute(wire: str) -> str | None:
    """Return the Python attribute of a JSON key, by rule or from the file; None if neither has one."""
    return attribute_name(wire) or read_chosen_names().attributes.get(wire)


def suggest_entry(table: str, name: str, chosen: str) -> str:
    """Return a sentence that says which entry gives something a name."""
    return f"Name it in [{table}] of {FILE}, for example: {json.dumps(name)} = {json.dumps(chosen)}."
