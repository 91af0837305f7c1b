"""Run programs: `python -m codegen.compatibility.run`, with the bindings and the programs on the path.

It reads a JSON array from stdin, with an object for each program, and prints an array with an object for each: the
errors of the uses that fail. It doesn't import the generator, so it runs beside any bindings.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError


def run(program: dict[str, Any]) -> dict[str, str]:
    """Run the uses of a program, and return the errors of those that fail."""
    module, examples = importlib.import_module(program["name"]), program["examples"]
    failed: dict[str, str] = {}
    for name, given in program["calls"].items():
        try:
            _run(getattr(module, name), [examples[each] for each in given])
        except Exception as error:
            failed[name] = describe(error)
    return failed


def _run(function: Callable[..., Any], examples: list[list[str]]) -> None:
    """Call a function with each example. What it returns has to be the same after it was dumped and parsed."""
    types = inspect.get_annotations(function, eval_str=True)
    adapter = _adapter(types["return"])
    results = [function(_parsed(types["value"], each)) for each in examples] if examples else [function()]
    for result in results:
        assert adapter.validate_json(adapter.dump_json(result)) == result, "It is different after it was dumped"


def _parsed(annotation: Any, examples: list[str]) -> Any:
    """Parse the first example that is still valid, so that a use fails only through its own fault."""
    *first, last = examples
    for each in first:
        try:
            return _adapter(annotation).validate_json(each)
        except ValidationError:
            continue
    return _adapter(annotation).validate_json(last)


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def describe(error: Exception) -> str:
    """Return an error on one line. Names are quoted, because the findings about them predict it."""
    if isinstance(error, ValidationError):
        places = (f'"{".".join(map(str, each["loc"]))}": {each["msg"]}' for each in error.errors(include_url=False))
        return f'"{error.title}" refuses {"; ".join(places)}'
    return " ".join(f"{type(error).__name__}: {error}".split()).replace("'", '"')


if __name__ == "__main__":
    json.dump([run(program) for program in json.load(sys.stdin)], sys.stdout)
