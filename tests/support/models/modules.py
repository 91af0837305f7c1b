"""Generated modules as syntax trees, and the schemas they come from. No generated module is imported."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from codegen.pinned.profiles import find_files
from tools.paths import ROOT

GENERATED = ROOT / "generated"
PACKAGE = GENERATED / "acp_bindings"
SCHEMA = ROOT / "schema"

PROFILES = find_files(SCHEMA)
"""The schema file of each profile."""


@cache
def raw_schema(profile: str) -> Any:
    return json.loads((SCHEMA / PROFILES[profile]).read_text("utf-8"))


@cache
def topics(profile: str) -> tuple[str, ...]:
    """Return the names of the modules in a profile's `models`."""
    return tuple(sorted(path.stem for path in (PACKAGE / profile / "models").glob("[a-z]*.py")))


@cache
def tree(profile: str, module: str) -> ast.Module:
    """Return a module by its path in the profile, without the suffix."""
    return ast.parse((PACKAGE / profile / f"{module}.py").read_text("utf-8"))


def definitions(profile: str) -> list[ast.stmt]:
    """Return the statements of all modules of models."""
    return [node for topic in topics(profile) for node in tree(profile, f"models/{topic}").body]


def classes(profile: str, module: str = "") -> dict[str, ast.ClassDef]:
    """Return the classes of a module by name; by default, of all modules of models."""
    body = tree(profile, module).body if module else definitions(profile)
    return {node.name: node for node in body if isinstance(node, ast.ClassDef)}


def aliases(profile: str) -> dict[str, ast.expr]:
    """Return the type aliases of a profile, by name."""
    return {
        node.target.id: node.value
        for node in definitions(profile)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }


def fields(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names and annotations of the fields in a class body."""
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement.annotation


def names(node: ast.AST) -> list[str]:
    """Return every plain name in a piece of code."""
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
