"""Every entry of `codegen/methods.toml` about a pinned schema takes effect, so none has a misspelt name."""

from __future__ import annotations

import importlib
import json
import tomllib
from typing import Any

import pytest

from codegen.__main__ import SCHEMA
from codegen.data.facts_file import MAY_BE_MISSING, METHODS_TOML, NEWER, PLACES, SHARED, find_place_entries
from codegen.data.resolve import attach_place_facts
from codegen.regen import read_schema

PROFILES = {"v1": ("v1", "v1_unstable"), "v2": ("v2_draft", "v2_draft_unstable")}
FILE: dict[str, Any] = tomllib.loads(METHODS_TOML.read_text("utf-8"))
TABLE: dict[str, Any] = {
    version: {side: entries for side, entries in tables.items() if side not in (SHARED, NEWER, MAY_BE_MISSING, PLACES)}
    for version, tables in FILE.items()
}


def _methods(version: str, wire: str) -> list[Any]:
    tables = ("AGENT_REQUESTS", "AGENT_NOTIFICATIONS", "CLIENT_REQUESTS", "CLIENT_NOTIFICATIONS")
    modules = [importlib.import_module(f"acp_bindings.{profile}.methods") for profile in PROFILES[version]]
    return [getattr(module, table)[wire] for module in modules for table in tables if wire in getattr(module, table)]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_every_entry_about_a_place_adds_a_fact_that_no_description_states(version: str) -> None:
    schemas = {
        facts: read_schema(json.loads((SCHEMA / version / file).read_text("utf-8")), facts)
        for facts, file in ((version, "schema.json"), (f"{version}_unstable", "schema.unstable.json"))
    }

    def adds_a_fact(key: str, facts: str) -> bool:
        entries = {other: of_other for other, of_other in find_place_entries(facts).items() if other != key}
        return attach_place_facts(schemas[facts], facts, entries).methods != schemas[facts].methods

    for key in FILE[version][PLACES]:
        assert any(adds_a_fact(key, facts) for facts in schemas), key


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
    if key in {"opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "accepted"}
]


def test_every_fact_about_a_method_is_used_by_a_pinned_schema() -> None:
    for version, wire, fact in FACTS:
        methods = _methods(version, wire)
        assert not methods or any(getattr(method, fact, None) for method in methods), (wire, fact)
