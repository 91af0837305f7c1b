"""Reads TOML files, and checks their form with pydantic. Every mistake is a `FileError`. Also writes values as TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from pydantic import Field, TypeAdapter, ValidationError

from codegen.errors import FileError
from codegen.nodes import escape, is_object

T = TypeVar("T")
Text: TypeAlias = Annotated[str, Field(min_length=1)]
SEE_TOP_OF_FILE = "The top of the file describes every key."
# Sentences for pydantic's types of errors, because pydantic's own sentences name Python types.
_VALUE_ERRORS = {
    "dict_type": "Expected a table",
    "dataclass_type": "Expected a table",
    "tuple_type": "Expected a list",
    "list_type": "Expected a list",
}
_KEY_ERRORS = {
    "missing": "The key is missing",
    "extra_forbidden": "There is no such key",
    "unexpected_keyword_argument": "There is no such key",
}


def read_file(path: Path, name: str) -> bytes:
    """Read a file. `name` is the file's name in the error message.

    Raises:
        FileError: the file can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError("", f"{name}: The file can't be read: {error.strerror}. Restore it with git.") from error


def parse_toml(content: bytes, name: str) -> dict[str, Any]:
    """Parse TOML. `name` is the file's name in the error message.

    Raises:
        FileError: the content is not TOML.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError("", f"{name}: Not TOML: {error}. Correct the file, or restore it with git.") from error


@cache  # it takes longer than validating
def _make_adapter(form: Any) -> TypeAdapter[Any]:
    return TypeAdapter(form)


def validate(form: type[T], value: Any, name: str, next_step: str = SEE_TOP_OF_FILE) -> T:
    """Return the content of a file as an instance of its form.

    Raises:
        FileError: it doesn't have the form.
    """
    try:
        content: T = _make_adapter(cast("Hashable", form)).validate_python(value)
        return content
    except ValidationError as error:
        first = error.errors()[0]
        pointer = "".join(f"/{escape(str(key))}" for key in first["loc"])
        reason = (_KEY_ERRORS | _VALUE_ERRORS).get(first["type"], first["msg"].removeprefix("Value error, "))
        value_text = "" if first["type"] in (*_KEY_ERRORS, "value_error") else f", found {first['input']!r}"
        raise FileError(pointer, f"{reason}{value_text}. {next_step}", name) from error


def write_toml(value: Any) -> str:
    """Write a value as TOML, on one line. Strings and lists of strings look the same in JSON and in TOML."""
    if not is_object(value) or not value:
        return json.dumps(value, ensure_ascii=False)
    pairs = (f"{_write_key(key)} = {write_toml(item)}" for key, item in value.items())
    return f"{{ {', '.join(pairs)} }}"


def _write_key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else write_toml(key)
