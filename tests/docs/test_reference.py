"""The API reference has every public name of the three packages. Models are in the protocol reference."""

from __future__ import annotations

import re
from importlib import import_module

import acp_runtime
from acp_bindings import v1
from acp_runtime import Model
from tests.support.public_names import find_public_names
from tools.paths import ROOT

PAGES = ROOT / "docs" / "reference"
DOCUMENTED = [
    name
    for page in sorted(PAGES.rglob("*.md"))
    for name in re.findall(r"^\.\. auto\w+:: (\S+)$", page.read_text("utf-8"), re.MULTILINE)
]


def public(module: str) -> set[str]:
    return {f"{module}.{name}" for name in find_public_names(import_module(module)) if name != "__version__"}


def test_nothing_is_documented_twice() -> None:
    assert sorted(set(DOCUMENTED)) == sorted(DOCUMENTED)


def test_every_public_name_of_the_runtime_is_documented() -> None:
    assert {f"acp_runtime.{name}" for name in acp_runtime.__all__} - {"acp_runtime.__version__"} <= set(DOCUMENTED)


def test_every_public_name_of_the_kit_is_documented() -> None:
    modules = ["acp_kit.agent", "acp_kit.client", "acp_kit.history", "acp_kit.local.confined"]
    modules += ["acp_kit.registry", "acp_kit.sync", "acp_kit.versions"]
    for module in modules:
        assert public(module) <= set(DOCUMENTED)


def test_everything_of_a_profile_but_models_and_types_is_documented() -> None:
    functions_and_roles = {
        name
        for name in v1.__all__
        if (callable(value := getattr(v1, name)) or name.isupper())
        and getattr(value, "__module__", "").startswith(("acp_bindings.v1", "acp_runtime.connect"))
        and not (isinstance(value, type) and issubclass(value, Model))
    }
    assert {"Agent", "RemoteAgent", "spawn_agent"} <= functions_and_roles
    assert {f"acp_bindings.v1.{name}" for name in functions_and_roles} <= set(DOCUMENTED)
