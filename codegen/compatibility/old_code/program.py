"""Writes the program for one profile of a release, and the plan for running it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from codegen.compatibility.old_code.uses import ROLES, Use, Uses
from codegen.emit.rendering import Templates
from codegen.ir import Schema

_TEMPLATES = Templates(Path(__file__).with_name("templates"))


@dataclass(frozen=True)
class Program:
    """Code that is right for one profile of a release.

    Attributes:
        name: the name of its module.
        profile: the profile that it imports.
        source: its source.
        plan: how to run it; see `codegen/compatibility/run/runner.py`.
    """

    name: str
    profile: str
    source: str
    plan: dict[str, Any]

    @cached_property
    def lines(self) -> dict[str, tuple[int, int]]:
        """The first and the last line of each use. A handler has the name of its class before its own."""
        found: dict[str, tuple[int, int]] = {}
        for node in self._statements:
            if isinstance(node, ast.ClassDef):
                found[node.name] = (node.lineno, node.lineno)
                found |= {
                    f"{node.name}.{each.name}": _lines(each) for each in node.body if isinstance(each, _FUNCTIONS)
                }
            else:
                found[node.name] = _lines(node)
        return found

    def use_at(self, line: int) -> str:
        """Return the use at a line."""
        return self._use_by_line[line]

    def tree_at(self, line: int) -> ast.Module:
        """Return a module with only the function or class at a line, which is faster to search."""
        index = bisect_right(self._statements, line, key=lambda each: each.lineno) - 1
        return ast.Module([self._statements[index]], [])

    @cached_property
    def _use_by_line(self) -> dict[int, str]:
        return {line: name for name, (first, last) in self.lines.items() for line in range(first, last + 1)}

    @cached_property
    def _statements(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
        return [each for each in ast.parse(self.source).body if isinstance(each, (*_FUNCTIONS, ast.ClassDef))]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    return first, node.end_lineno or node.lineno


def write_program(name: str, profile: str, schema: Schema) -> Program:
    """Write the program for a profile."""
    uses = Uses(schema)
    functions = [*uses.of_definitions(), *(use for role in ROLES for use in uses.calls(role))]
    roles = {role: list(uses.of_role(role)) for role in ROLES}
    source = _TEMPLATES.render("program.py.jinja", profile=profile, uses=functions, roles=roles)
    plan = {
        "profile": profile,
        "values": uses.values(),
        "functions": [_step(use) for use in functions],
        "opens": [each.wire for each in schema.methods if dict(each.facts).get("opens")],
        "handlers": {role: {use.of: _handler(use) for use in handlers} for role, handlers in roles.items()},
    }
    return Program(name, profile, source, plan)


def _step(use: Use) -> dict[str, Any]:
    """Return how to run a use."""
    step = {"name": use.name, "kind": use.kind, "of": use.of, "arguments": use.arguments}
    return step | {key: use.values[key] for key in ("member", "members", "role") if key in use.values}


def _handler(use: Use) -> dict[str, Any]:
    """Return the name of a handler and the definition of its result."""
    return {"name": use.name, "result": use.values["method"].result}
