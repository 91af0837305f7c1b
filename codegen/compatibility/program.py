"""Writes the program for one profile of a release: all of its uses."""

from __future__ import annotations

import ast
import json
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from codegen.compatibility.uses import Uses
from codegen.ir import Schema
from codegen.reference.examples import as_json

_HEAD = """\
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never

from typing_extensions import override

from acp_bindings import {} as ACP
"""


@dataclass(frozen=True)
class Program:
    """Code that is right for one profile of a release.

    Attributes:
        name: the name of its module.
        profile: the profile that it imports.
        source: its source.
        calls: for each use that is run, the definitions with whose examples it is called.
        examples: the JSON of an example of each definition.
    """

    name: str
    profile: str
    source: str
    calls: dict[str, tuple[str, ...]]
    examples: dict[str, str]

    @cached_property
    def uses(self) -> dict[str, ast.stmt]:
        """The function of each use, by its name."""
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        return {each.name: each for each in ast.parse(self.source).body if isinstance(each, functions)}

    def use_at(self, line: int) -> str:
        """Return the use at a line."""
        names = list(self.uses)
        return names[bisect_right(names, line, key=lambda name: self.uses[name].lineno) - 1]


def write_program(name: str, profile: str, schema: Schema) -> Program:
    """Write the program for a profile."""
    made = Uses(schema)
    uses = list(made.all())
    source = "\n\n".join((_HEAD.format(profile), *(each.source for each in uses)))
    given = {name for each in uses for name in each.given}
    examples: dict[str, Any] = {each: as_json(made.examples.of(each)) for each in given}
    calls = {each.name: each.given for each in uses if each.is_run}
    return Program(name, profile, source, calls, {each: json.dumps(value) for each, value in examples.items()})
