"""Runs the functions that build and read values. Values are dumped and parsed again before they are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from pydantic import TypeAdapter, ValidationError

from codegen.compatibility.run.loaded import Loaded, Step


def run_functions(code: Loaded) -> dict[str, str]:
    """Run all functions that aren't calls, and return the errors of those that fail, by name."""
    failed: dict[str, str] = {}
    for step in code.plan["functions"]:
        try:
            if step["kind"] in _KINDS:
                _KINDS[step["kind"]](code, step)
        except Exception as error:
            failed[step["name"]] = describe(error)
    return failed


def describe(error: BaseException) -> str:
    """Return an error on one line. Names are quoted, because the findings about them predict it."""
    if isinstance(error, ValidationError):
        places = (f'"{".".join(map(str, each["loc"]))}": {each["msg"]}' for each in error.errors(include_url=False))
        return f'"{error.title}" refuses {"; ".join(places)}'
    return " ".join(f"{type(error).__name__}: {error}".split()).replace("'", '"')


def _build(code: Loaded, step: Step) -> None:
    value = code.call(step)
    assert _parsed(value) == value, "It is different after it was dumped and parsed"


def _read(code: Loaded, step: Step) -> None:
    code.call(step, _parsed(code.given(step["of"])))


def _put(code: Loaded, step: Step) -> None:
    _adapter(code, step).validate_python(code.call(step, code.given(step["member"])))


def _find(code: Loaded, step: Step) -> None:
    value = code.given(step["member"])
    found = code.call(step, _adapter(code, step).validate_json(value.model_dump_json()))
    assert found is not None, f'It is not parsed as "{step["member"]}"'


def _match(code: Loaded, step: Step) -> None:
    for member in step["members"]:
        code.call(step, code.given(member))


def _make(code: Loaded, step: Step) -> None:
    _adapter(code, step).validate_python(code.call(step))


def _take(code: Loaded, step: Step) -> None:
    code.call(step, code.given(step["of"]))


_KINDS: dict[str, Callable[[Loaded, Step], None]] = {
    "build": _build,
    "read": _read,
    "put": _put,
    "find": _find,
    "match": _match,
    "make": _make,
    "take": _take,
    "choose": _take,
}


def _parsed(value: Any) -> Any:
    return value.__class__.model_validate_json(value.model_dump_json())


def _adapter(code: Loaded, step: Step) -> TypeAdapter[Any]:
    return _adapter_of(code.module.ACP, step["of"])


@cache
def _adapter_of(bindings: ModuleType, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(bindings, name))
