"""Reads TOML files, and reports everything that can be wrong with them as a `FileError`.

The form of a data file of codegen is a pydantic model.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from codegen.errors import FileError
from codegen.nodes import escape

T = TypeVar("T")
Text: TypeAlias = Annotated[str, Field(min_length=1)]
SEE_TOP_OF_FILE = "The top of the file describes every key."
# The sentences that replace pydantic's, which name Python types. `found` follows only those about a value.
_TABLE, _LIST = "Expected a table", "Expected a list"
_VALUES = {"dict_type": _TABLE, "dataclass_type": _TABLE, "tuple_type": _LIST, "list_type": _LIST}
_NO_KEY = "There is no such key"
_KEYS = {"missing": "The key is missing", "extra_forbidden": _NO_KEY, "unexpected_keyword_argument": _NO_KEY}


def read_file(path: Path, name: str) -> bytes:
    """Return the content of a file. `name` is the file's name in the error message.

    Raises:
        FileError: the file can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError("", f"{name}: The file can't be read: {error.strerror}. Restore it with git.") from error


def parse_toml(content: bytes, name: str) -> dict[str, Any]:
    """Parse the content of a TOML file.

    Raises:
        FileError: the content is not TOML.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError("", f"{name}: Not TOML: {error}. Correct the file, or restore it with git.") from error


def validate(form: type[T], value: Any, name: str, next_step: str = SEE_TOP_OF_FILE) -> T:
    """Return the content of a file as its model.

    Raises:
        FileError: it doesn't have the model's form.
    """
    try:
        return TypeAdapter(form).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        pointer = "".join(f"/{escape(str(key))}" for key in first["loc"])
        words = (_KEYS | _VALUES).get(first["type"], first["msg"].removeprefix("Value error, "))
        input_text = "" if first["type"] in (*_KEYS, "value_error") else f", found {first['input']!r}"
        raise FileError(pointer, f"{words}{input_text}. {next_step}", name) from error
