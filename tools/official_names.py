"""Writes the table of classes in docs/moving.md: `python -m tools.official_names`.

It has the models of the installed official SDK that have another name here: those with the same constants, such as
`"sessionUpdate": "plan"`, and the fewest properties that only one of them has. A model of the same name that lacks the
constants is another one.
"""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import acp.schema
from pydantic import BaseModel

from acp_bindings import v1, v1_unstable
from acp_runtime.models.union_members import tags_of

PAGE = Path(__file__).parents[1] / "docs" / "moving.md"
START, END = "<!-- classes: start -->\n", "<!-- classes: end -->\n"


def _models(module: Any) -> dict[str, type[BaseModel]]:
    members = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {name: item for name, item in members.items() if inspect.isclass(item) and issubclass(item, BaseModel)}


def _properties(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def _official_constants(model: type[BaseModel]) -> dict[str, Any]:
    """Return the values of the properties that can have only one value."""
    literals = {
        field.alias or name: get_args(field.annotation)
        for name, field in model.model_fields.items()
        if get_origin(field.annotation) is Literal
    }
    return {name: values[0] for name, values in literals.items() if len(values) == 1}


def _our_constants(model: type[BaseModel]) -> dict[str, Any]:
    return {model.model_fields[name].alias or name: value for name, value in tags_of(model).items()}


@cache
def counterparts() -> dict[str, str]:
    """Return our class for each official one with another name; "" if there is none."""
    ours = _models(v1_unstable)
    our_constants = {name: _our_constants(model) for name, model in ours.items()}
    names: dict[str, str] = {}
    for name, model in _models(acp.schema).items():
        if model.__module__ != acp.schema.__name__ or "root" in model.model_fields:
            continue
        constants, properties = _official_constants(model), _properties(model)
        if name in ours and constants.items() <= our_constants[name].items():
            continue
        candidates = [other for other, theirs in our_constants.items() if theirs == constants]
        if not constants:
            candidates = [
                other
                for other in candidates
                if _properties(ours[other]) == properties and len(properties - {"_meta"}) > 1
            ]
        candidates = [other for other in candidates if len(properties & _properties(ours[other])) * 2 > len(properties)]
        names[name] = min(candidates, key=lambda other: len(properties ^ _properties(ours[other])), default="")
    return names


def table() -> str:
    """Return the rows."""
    rows = [
        f"| `{name}` | `{other}` |{'' if hasattr(v1, other) else ' v1_unstable'} |"
        for name, other in sorted(counterparts().items())
        if other
    ]
    return "\n".join(["| `acp.schema` | `acp_bindings.v1` | only in |", "|---|---|---|", *rows, ""])


def write() -> None:
    """Write the table into the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    PAGE.write_text(f"{before}{START}{table()}{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    write()
