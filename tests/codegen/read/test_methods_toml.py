"""Every entry of `codegen/methods.toml` about a pinned schema takes effect, so none has a misspelt name."""

from __future__ import annotations

import importlib
import tomllib
from typing import Any

from codegen.data.facts_file import MAY_BE_MISSING, METHODS_TOML, SHARED

PROFILES = {"v1": ("v1", "v1_unstable"), "v2": ("v2_draft", "v2_draft_unstable")}
TABLE: dict[str, Any] = {
    version: {side: entries for side, entries in tables.items() if side not in (SHARED, MAY_BE_MISSING)}
    for version, tables in tomllib.loads(METHODS_TOML.read_text("utf-8")).items()
}
CONTENT = [
    (version, wire, part)
    for version, sides in TABLE.items()
    for side in sides.values()
    for wire, entry in side.items()
    for part in entry.get("content", {})
]


def _methods(version: str, wire: str) -> list[Any]:
    tables = ("AGENT_REQUESTS", "AGENT_NOTIFICATIONS", "CLIENT_REQUESTS", "CLIENT_NOTIFICATIONS")
    modules = [importlib.import_module(f"acp_bindings.{profile}.methods") for profile in PROFILES[version]]
    return [getattr(module, table)[wire] for module in modules for table in tables if wire in getattr(module, table)]


def test_every_part_that_needs_a_capability_is_in_a_pinned_schema() -> None:
    for version, wire, part in CONTENT:
        methods = _methods(version, wire)
        assert not methods or part in [name for method in methods for name, _ in method.content], (wire, part)


def test_every_method_of_the_pinned_schemas_has_an_entry() -> None:
    for version, profiles in PROFILES.items():
        listed = {wire for side in TABLE[version].values() for wire in side}
        for profile in profiles:
            module = importlib.import_module(f"acp_bindings.{profile}.methods")
            handled = {*module.AGENT_REQUESTS, *module.AGENT_NOTIFICATIONS}
            handled |= {*module.CLIENT_REQUESTS, *module.CLIENT_NOTIFICATIONS}
            assert handled <= listed


FACTS = [
    (version, wire, key)
    for version, sides in TABLE.items()
    for side in sides.values()
    for wire, entry in side.items()
    for key in entry
    if key in {"opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "paths", "login"}
]


def test_every_fact_about_a_method_is_used_by_a_pinned_schema() -> None:
    for version, wire, fact in FACTS:
        methods = _methods(version, wire)
        assert not methods or any(getattr(method, fact, None) for method in methods), (wire, fact)
