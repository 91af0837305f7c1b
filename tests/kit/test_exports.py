"""What the packages of the kit offer."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from types import ModuleType

import pytest

from tests.support.programs import output_of
from tests.support.public_names import find_public_names

PACKAGES = ["agent", "client", "history", "registry", "remote", "sync", "testing", "v2", "versions"]


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> ModuleType:
    return import_module(f"acp_kit.{request.param}")


def test_every_name_can_be_loaded_and_dir_lists_it(package: ModuleType) -> None:
    assert set(find_public_names(package)) <= {*dir(package)}
    for name in find_public_names(package):
        assert getattr(package, name) is not None


def test_type_checkers_see_the_same_names(package: ModuleType) -> None:
    imports = [node for node in ast.walk(ast.parse(inspect.getsource(package))) if isinstance(node, ast.ImportFrom)]
    seen = [alias.name for statement in imports for alias in statement.names if alias.asname == alias.name]
    assert sorted(seen) == find_public_names(package)


@pytest.mark.parametrize(
    ("package", "name", "unused"), [("agent", "Turn", "mcp_servers"), ("client", "Turn", "supervised")]
)
def test_a_name_loads_only_the_modules_that_it_uses(package: str, name: str, unused: str) -> None:
    program = f"""
import sys
from acp_kit.{package} import {name}
print([module in sys.modules for module in ({name}.__module__, "acp_kit.{package}.{unused}")])
"""
    assert output_of(program) == "[True, False]"


def test_another_name_is_an_attribute_error(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"^module 'acp_kit[.]{package.__name__[8:]}' has no attribute 'Nothing'$"):
        package.Nothing  # noqa: B018


def test_help_leaves_out_names_that_need_a_package_that_is_not_installed() -> None:
    program = """
import pydoc, sys
import acp_kit.history
for there in True, False:
    if not there:
        sys.modules["sqlalchemy"] = None
    text = pydoc.render_doc(acp_kit.history, renderer=pydoc.plaintext)
    print([name for name in ("MemoryHistory", "SqlHistory") if f"class {name}(" in text])
"""
    assert output_of(program).splitlines() == ["['MemoryHistory', 'SqlHistory']", "['MemoryHistory']"]


@pytest.mark.parametrize(
    ("statement", "name", "missing", "extra"),
    [
        ("from acp_kit.agent import McpServers; McpServers()", "McpServers", "mcp", "mcp"),
        ("from acp_kit.remote import run", "run", "uvicorn", "remote"),
        ("from acp_kit.remote import open_transport", "open_transport", "websockets", "remote"),
        ("import acp_kit.telemetry", "acp_kit.telemetry", "opentelemetry", "telemetry"),
        ("from acp_kit.history import SqlHistory", "SqlHistory", "sqlalchemy", "history"),
        ("from acp_kit.history import SqlHistory", "SqlHistory", "greenlet", "history"),
    ],
)
def test_a_missing_package_is_one_sentence_with_the_command(
    statement: str, name: str, missing: str, extra: str
) -> None:
    program = f"""
import sys
sys.modules[{missing!r}] = None
try:
    {statement}
except ImportError as error:
    print(error)
"""
    expected = f"{name} needs the package {missing}, which you get with: pip install 'acp-bindings[{extra}]'"
    assert output_of(program) == expected
