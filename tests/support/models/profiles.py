"""The four profiles, and those under test: each generated package with the upstream schema it comes from.

Independent of the generator: it reads upstream's schemas and imports public names of the packages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import isclass
from types import ModuleType
from typing import Any

from pydantic import TypeAdapter

from acp_runtime.models.model import Model
from tests.support.models.oracle import Oracle
from tests.support.scale import STRESS
from tools.paths import ROOT


@dataclass(frozen=True)
class Profile:
    """A generated package and its schema."""

    package: str
    schema_file: str

    @cached_property
    def schema(self) -> dict[str, Any]:
        text = (ROOT / "schema" / self.schema_file).read_text(encoding="utf-8")
        schema: dict[str, Any] = json.loads(text)
        return schema

    @cached_property
    def definitions(self) -> dict[str, Any]:
        """The definitions that have a class or an alias: all except whole messages, which the runtime makes."""
        data: dict[str, Any] = self.schema["$defs"]
        return {
            name: definition
            for name, definition in data.items()
            if "x-docs-ignore" not in definition or "x-side" in definition
        }

    @cached_property
    def described(self) -> dict[str, Any]:
        """The schema of each class or alias that is named like a definition. It is that definition, with one exception.

        If a union's member is named like the definition that it wraps (`McpServer` with the tag `http` wraps
        `McpServerHttp`), the class has the member's tag, so its schema is that of the member.
        """
        return {**self.definitions, **dict(_tagged_in_place(self.definitions))}

    @cached_property
    def oracle(self) -> Oracle:
        """Decides by the schema whether a value is valid."""
        return Oracle(self.schema)

    @cached_property
    def module(self) -> ModuleType:
        return import_module(f"acp_bindings.{self.package}")

    @cached_property
    def models(self) -> dict[str, type[Model]]:
        """Every model class of the package by its name, including those that aren't named like a definition."""
        models = import_module(f"acp_bindings.{self.package}.models")
        result = {name: getattr(models, name) for name in dir(models) if name[0].isupper()}
        return {name: cls for name, cls in result.items() if isclass(cls) and issubclass(cls, Model)}

    @cached_property
    def _adapters(self) -> dict[str, TypeAdapter[Any]]:
        return {}

    def adapter(self, name: str) -> TypeAdapter[Any]:
        """Return the type adapter of a class or alias of the package."""
        if name not in self._adapters:
            self._adapters[name] = TypeAdapter(getattr(self.module, name))
        return self._adapters[name]


def _tagged_in_place(definitions: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for union, schema in definitions.items():
        for member in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            refs = [part["$ref"].removeprefix("#/$defs/") for part in member.get("allOf", ()) if "$ref" in part]
            for tag in member.get("properties", {}).values():
                if "const" in tag and [union + pascal_case(tag["const"])] == refs:
                    yield refs[0], member


def pascal_case(tag: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split("[^A-Za-z0-9]+", tag))


PROFILES = [
    Profile("v1", "v1/schema.json"),
    Profile("v1_unstable", "v1/schema.unstable.json"),
    Profile("v2_draft", "v2/schema.json"),
    Profile("v2_draft_unstable", "v2/schema.unstable.json"),
]
# `make test` takes the one that most users have and the one with most definitions. The others are between them.
TESTED = PROFILES if STRESS else [PROFILES[0], PROFILES[-1]]
