"""Tries everything that a subclass can declare, on many generated classes in one process.

Run it as a program with two arguments: `fresh` or `used`, whether each class was used before it gets its subclass; and
`built` or `parsed`, how the first instance of the subclass is made. It prints a line for each failure.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from acp_runtime.jsonrpc.encoding import dump
from tests.support.models.subclass_declarations import BASES, DECLARATIONS, Base, Declaration

PROFILES = ["v1", "v1_unstable", "v2_draft", "v2_draft_unstable"]


def bases_of(shape: str) -> Iterator[tuple[Any, Base]]:
    for package in PROFILES:
        models = import_module(f"acp_bindings.{package}.models")
        for base in BASES[shape]:
            if hasattr(models, base.name):
                yield getattr(models, base.name), base


@dataclass
class Case:
    cls: Any
    base: Base
    declaration: Declaration

    def run(self, first: str) -> Iterator[str]:
        steps = [("built", self.built), ("parsed", self.parsed)]
        for name, step in sorted(steps, key=lambda each: each[0] != first):
            for value in step():
                yield from (f"{name}: {fault}" for fault in self.faults(value))
        yield from self.accepts_what_it_should_refuse() if self.declaration.refuses else ()

    def built(self) -> list[Any]:
        return [self.cls(**self.base.arguments("some"))]

    def parsed(self) -> list[Any]:
        wire = self.base.wire("some")
        text = json.dumps(wire)
        parent = parent_of(self.cls).model_validate_json(f'{{"child":{text},"children":[{text}]}}')
        return [
            self.cls.model_validate_json(text),
            self.cls.model_validate(wire),
            TypeAdapter(self.cls).validate_json(text),
            TypeAdapter(list[self.cls]).validate_json(f"[{text}]")[0],
            parent.child,
            parent.children[0],
        ]

    def faults(self, value: Any) -> Iterator[str]:
        if type(value) is not self.cls:
            yield f"the class is {type(value)}"
        for name, expected in {self.base.text: self.declaration.read, **self.declaration.attributes}.items():
            if getattr(value, name) != expected:
                yield f"{name} reads as {getattr(value, name)!r}"
        expected = {**self.base.wire(self.declaration.dumped), **self.declaration.added}
        for way, dumped in self.dumps(value):
            if dumped != expected:
                yield f"{way} gives {dumped}, not {expected}"

    def dumps(self, value: Any) -> Iterator[tuple[str, Any]]:
        parent = parent_of(self.cls)(child=value, children=[value])
        yield "model_dump", value.model_dump()
        yield "model_dump(mode='json')", value.model_dump(mode="json")
        yield "model_dump_json", json.loads(value.model_dump_json())
        yield "dump_python", TypeAdapter(self.cls).dump_python(value)
        yield "dump_json", json.loads(TypeAdapter(self.cls).dump_json(value))
        yield "model_dump of its parent", parent.model_dump()["child"]
        yield "model_dump_json of its parent", json.loads(parent.model_dump_json())["children"][0]
        yield "as a message", json.loads(dump(value))
        yield "as a message's part", json.loads(dump(parent))["child"]

    def accepts_what_it_should_refuse(self) -> Iterator[str]:
        text = json.dumps(self.base.wire("refused"))
        ways: dict[str, Callable[[], Any]] = {
            "built": lambda: self.cls(**self.base.arguments("refused")),
            "parsed": lambda: self.cls.model_validate_json(text),
            "in a parent": lambda: parent_of(self.cls).model_validate_json(f'{{"child":{text},"children":[]}}'),
        }
        for name, way in ways.items():
            try:
                way()
            except ValidationError:
                continue
            yield f"{name}: accepts what it should refuse"


def parent_of(cls: Any) -> Any:
    """Return a user's model with fields of a class."""
    return create_model("Parent", __base__=BaseModel, child=(cls, ...), children=(list[cls], ...))


def use(cls: Any, base: Base) -> None:
    """Build, dump and parse an instance."""
    value = cls(**base.arguments("used"))
    assert cls.model_validate_json(value.model_dump_json()) == value


def run(state: str, first: str) -> Iterator[str]:
    for shape in BASES:
        bases = bases_of(shape)
        for name, declaration in DECLARATIONS.items():
            cls, base = next(bases)
            if state == "used":
                use(cls, base)
            yield from (f"{shape} {base.name}, {name}: {fault}" for fault in case_faults(cls, base, declaration, first))


def case_faults(cls: Any, base: Base, declaration: Declaration, first: str) -> Iterator[str]:
    try:
        yield from Case(declaration.make(cls, base.text), base, declaration).run(first)
    except Exception as error:
        yield f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    # A class may have got another name since it was written here.
    warnings.filterwarnings("ignore", ".* is .* now. The old name will be removed in", DeprecationWarning)
    print(*run(*sys.argv[1:]), sep="\n")
