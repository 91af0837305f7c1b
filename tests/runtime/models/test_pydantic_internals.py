"""The assumptions of `pydantic_internals` hold, and models work without them. Each test runs in a new process."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.models.fresh_process import run_code
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

RUNTIME = ROOT / "runtime/acp_runtime"

# Uses models as programs do.
USE = """
import json
from pydantic import field_validator
from acp_bindings.v1 import models as m

built = sum(type(each) is type(m.Model) for each in vars(m).values() if isinstance(each, type))
wire = {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": [], "new": 1}, "_meta": {"a": 1}, "other": 2}
parsed = m.SessionNotification.model_validate_json(json.dumps(wire))
assert type(parsed.update) is m.SessionUpdatePlan and parsed.update.entries == [] and parsed.meta == {"a": 1}
assert json.loads(parsed.model_dump_json(exclude_unset=True)) == wire
text = m.ContentBlockText(text="x")
value = m.SessionNotification(session_id="s", update=m.SessionUpdateAgentMessageChunk(content=text))
again = m.SessionNotification.model_validate_json(value.model_dump_json(exclude_none=True))
assert again.update.content.text == "x" and again.meta is None
assert m.TextContent.model_validate_json('{"text":"x","annotations":"wrong"}').annotations is None
for refused in ({}, {"text": 1}, {"text": "x", "more": 1}):
    try:
        m.ContentBlockText(**refused)
    except ValueError:
        continue
    raise AssertionError(refused)

class Loud(m.ContentBlockText):
    volume: int = 11

    @field_validator("text")
    @classmethod
    def upper(cls, value):
        return value.upper()

def local():
    Size = int

    class Sized(m.ContentBlockText):
        size: "Size" = 1

    return Sized

loud = Loud(text="y")
assert (loud.text, loud.volume, loud.type) == ("Y", 11, "text")
assert Loud.model_validate_json(loud.model_dump_json()).model_dump() == loud.model_dump()
finds_local_names = local().model_fields["size"].annotation is int
"""

# For each assumption: code that breaks it, and code that shows that it is broken.
BROKEN_ASSUMPTIONS = {
    "the metaclass ignores InPlaceMeta": (
        """
from pydantic import BaseModel
Meta, real = type(BaseModel), type(BaseModel).__new__
def alone(mcs, name, bases, namespace, **keywords):
    for key in ("__acp_existing__", "__acp_hidden__"):
        namespace.pop(key, None)
    return real(mcs, name, bases, namespace, **keywords)
Meta.__new__ = alone
""",
        "assert built > 100",
    ),
    "pydantic finds local names in another way": (
        """
import sys, types
from pydantic import BaseModel, Field, TypeAdapter, create_model
import pydantic._internal._generate_schema, pydantic._internal._validators
sys.modules["pydantic._internal._typing_extra"] = types.ModuleType("empty")
""",
        "assert built < 10 and not finds_local_names",
    ),
    "a model has another type of schema": (
        """
from pydantic._internal import _generate_schema
real = _generate_schema.core_schema.model_schema
def wrapped(*arguments, ref=None, **keywords):
    return {"type": "chain", "steps": [real(*arguments, **keywords)], "ref": ref}
_generate_schema.core_schema = types = type("core_schema", (), dict(vars(_generate_schema.core_schema)))
types.model_schema = staticmethod(wrapped)
""",
        'assert \'oldText\' in m.Diff.model_validate_json(\'{"path":"p","newText":"n"}\').model_dump()',
    ),
    "complete classes keep their schema elsewhere": (
        """
from pydantic._internal._generate_schema import GenerateSchema
real, kept, put_back = GenerateSchema._model_schema, {}, []
def remembering(self, cls):
    mine = cls.__dict__.get("__pydantic_core_schema__")
    if isinstance(mine, dict):
        kept[cls] = mine
    elif cls in kept and mine is None:
        type.__setattr__(cls, "__pydantic_core_schema__", kept[cls])
        put_back.append(cls)
    return real(self, cls)
GenerateSchema._model_schema = remembering
from pydantic import BaseModel, TypeAdapter
import acp_runtime.models.subclasses as subclasses
complete = subclasses._complete
def complete_and_keep(cls):
    complete(cls)
    kept[cls] = cls.__pydantic_core_schema__
subclasses._complete = complete_and_keep
""",
        "assert Loud in put_back",
    ),
}


@pytest.mark.parametrize("name", BROKEN_ASSUMPTIONS)
def test_models_work_without_an_assumption_about_pydantic(name: str) -> None:
    break_it, check_it = BROKEN_ASSUMPTIONS[name]
    run_code(break_it + USE + check_it)


def test_generated_classes_are_not_built_where_they_are_defined() -> None:
    run_code(USE + "assert built < 10, built")


def test_the_local_names_of_a_function_are_found() -> None:
    run_code(USE + "assert finds_local_names")


def test_the_model_and_its_fields_are_found_in_a_schema_with_validators_and_serializers() -> None:
    run_code("""
from pydantic import BaseModel, TypeAdapter, model_serializer, model_validator
from acp_runtime.models.pydantic_internals import fields_of, model_of

class Decorated(BaseModel):
    field: int

    @model_validator(mode="before")
    @classmethod
    def before(cls, data): return data
    @model_validator(mode="wrap")
    @classmethod
    def wrap(cls, data, handler): return handler(data)
    @model_validator(mode="after")
    def after(self): return self
    @model_serializer(mode="wrap")
    def dump(self, handler): return handler(self)

schema = Decorated.__pydantic_core_schema__
assert model_of(schema)["cls"] is Decorated
assert list(fields_of(schema)["fields"]) == ["field"]
""")


def test_pydantic_makes_a_new_schema_while_the_class_has_none() -> None:
    run_code("""
from typing import Annotated, Any
from pydantic import BaseModel, TypeAdapter
from acp_runtime.models.pydantic_internals import fields_of, without_schema

class Plain(BaseModel):
    field: int

class Holder:
    def __get_pydantic_core_schema__(self, source, handler):
        return handler.generate_schema(Plain)

kept = Plain.__pydantic_core_schema__
fields_of(kept)["metadata"] = {"kept": True}
assert fields_of(TypeAdapter(Annotated[Any, Holder()]).core_schema).get("metadata") == {"kept": True}
with without_schema(Plain):
    assert fields_of(TypeAdapter(Annotated[Any, Holder()]).core_schema).get("metadata") is None
assert Plain.__pydantic_core_schema__ is kept
""")


def test_a_serializer_that_is_set_early_dumps_until_the_class_is_complete() -> None:
    run_code("""
from acp_bindings.v1 import models as m
m.ContentBlockText(text="x")
early = m.ContentBlockText.__pydantic_serializer__
assert not m.ContentBlockText.__pydantic_complete__
assert m.ContentBlockText(text="x").model_dump_json() == '{"text":"x","type":"text"}'
m.ContentBlockText.model_validate_json('{"text":"x","type":"text"}')
assert m.ContentBlockText.__pydantic_complete__ and m.ContentBlockText.__pydantic_serializer__ is not early
""")


def test_no_other_module_imports_a_private_name_of_pydantic() -> None:
    allowed = {"pydantic_internals.py", "older_pydantic.py"}
    importing = {path.name for path in RUNTIME.rglob("*.py") if any(map(_is_private, imports_of(path)))}
    assert importing <= allowed


def imports_of(path: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [
        f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


def _is_private(name: str) -> bool:
    package, *parts = name.split(".")
    return package in {"pydantic", "pydantic_core"} and any(part.startswith("_") for part in parts)
