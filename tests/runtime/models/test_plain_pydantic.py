"""The models use what pydantic documents, except one attribute. Each canary runs in a new process."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.programs import output_of
from tools.paths import ROOT

RUNTIME = ROOT / "runtime/acp_runtime"


def test_no_module_of_the_runtime_imports_a_private_name_of_pydantic() -> None:
    private = {name for path in RUNTIME.rglob("*.py") for name in imports_of(path) if _is_private(name)}
    assert private == set()


@pytest.mark.slow
def test_parsing_does_not_call_the_constructor_of_models() -> None:
    """`__pydantic_base_init__` isn't documented. Without it, pydantic would call the constructor with JSON keys."""
    output_of(
        """
from acp_bindings.v1 import ContentBlockText, NewSessionRequest
from acp_runtime import Model

def called(*_, **__):
    raise AssertionError("called")

assert not NewSessionRequest.__pydantic_custom_init__
given = '{"cwd":"/","mcpServers":[],"more":1}'
built = NewSessionRequest(cwd="/", mcp_servers=[])
Model.__init__.__code__ = called.__code__
assert NewSessionRequest.model_validate_json(given).model_dump_json() == given
"""
    )


def imports_of(path: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [
        f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]


def _is_private(name: str) -> bool:
    package, *parts = name.split(".")
    return package in {"pydantic", "pydantic_core"} and any(part.startswith("_") for part in parts)
