"""A mistake in `methods.toml` stops the generator with a message: the mistake, its place and the next step."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from acp_runtime.updates import AddsTo, Changes, Effect, Removes, Says, Sets
from codegen.data.facts_file import METHODS_TOML, find_newer, parse_facts
from codegen.errors import SchemaError
from codegen.pinned.pins import sha256
from codegen.pinned.profiles import PLACES_OF
from codegen.regen import regenerate
from tests.codegen.read.facts_mistakes import MISTAKES, OTHER
from tests.support.codegen.build import Schema, tagged, tree, write_schema
from tests.support.codegen.facts_base import FACTS, SCHEMA
from tests.support.codegen.pinning import FILE, pin


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a pinned schema, in which `methods.toml` is written."""
    pin(write_schema(tmp_path / "schema", SCHEMA, FILE))
    monkeypatch.setattr("codegen.data.facts_file.METHODS_TOML", tmp_path / "methods.toml")
    return tmp_path


def generate(folder: Path, facts: str) -> None:
    (folder / "methods.toml").write_text(facts, "utf-8")
    regenerate(folder / "schema", folder / "out")


def test_the_facts_without_a_mistake_are_accepted(folder: Path) -> None:
    generate(folder, FACTS)
    text = (folder / "out/acp_bindings/v1/methods.py").read_text("utf-8")
    assert all(
        f"{key}=" in text for key in ("opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "accepted")
    )


@pytest.mark.parametrize(("old", "new", "place", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_facts_is_reported(folder: Path, old: str, new: str, place: str, words: str) -> None:
    assert old in FACTS
    with pytest.raises(SchemaError) as caught:
        generate(folder, FACTS.replace(old, new, 1))
    caught.value.name_source(FILE)
    error = str(caught.value)
    assert place in error
    assert words in error
    next_steps = (
        "Correct the entry",
        "describes every key",
        r"move it to \[v1_next\.updates]",
        r"add one that fits to \[v1_next\.\w+]",
        "one for this place",
    )
    assert re.search(rf"({'|'.join(next_steps)})\.$", error)
    assert "\n" not in error
    assert not [path for path in tree(folder) if path.startswith("out")]


def test_a_fact_about_a_property_that_a_release_lacks_is_dropped(folder: Path) -> None:
    facts = FACTS.replace('ends = "sessionId"', 'ends = "later"').replace("NewRequest.cwd", "NewRequest.later")
    (folder / "methods.toml").write_text(facts.replace('appends = "line"', 'appends = "later"'), "utf-8")
    regenerate(folder / "schema", folder / "out", pinned=False)
    text = (folder / "out/acp_bindings/v1/methods.py").read_text("utf-8")
    assert "later" not in text
    assert [*updates(folder, "v1")] == ["note"]


def test_what_a_release_does_not_say_about_its_updates_is_left_out(folder: Path) -> None:
    (folder / "methods.toml").write_text(FACTS.partition("[v1.updates]")[0], "utf-8")
    regenerate(folder / "schema", folder / "out", pinned=False)
    assert updates(folder, "v1") == {}


def test_what_clients_of_newer_versions_advertise_is_where_the_next_version_has_it() -> None:
    tables = parse_facts(METHODS_TOML.read_bytes(), "methods.toml")
    assert find_newer("v1_unstable", tables)["advertised"] == ["capabilities", "info"]
    assert "advertised" not in find_newer("v2", tables)
    same_names = {**tables, "v2": {**tables["v2"], "properties": tables["v1"]["properties"]}}
    assert "advertised" not in find_newer("v1", same_names)


# Updates


def updates(folder: Path, profile: str) -> dict[str, Effect]:
    """Return the table of updates of a generated profile."""
    names: dict[str, Any] = {}
    exec((folder / f"out/acp_bindings/{profile}/updates.py").read_text("utf-8"), names)
    table: dict[str, Effect] = names["UPDATES"]
    return table


def test_the_table_of_updates_has_the_files_facts_under_python_names(folder: Path) -> None:
    generate(folder, FACTS.replace('id = "noteId", null', 'id = "noteId", starts = true, meta = "patched", null'))
    assert updates(folder, "v1") == {
        "note": Changes(
            "note",
            id="note_id",
            starts=True,
            null="clears",
            patches_meta=True,
            model="UpdateNote",
            new={"lines": []},
        ),
        "other": Changes("note", id="note_id", appends="line", to="lines"),
    }


def test_kinds_that_append_to_different_properties_of_a_thing_are_reported(folder: Path) -> None:
    schema: Schema = copy.deepcopy(SCHEMA)
    schema["$defs"]["Update"]["anyOf"].append(tagged("kind", "third", "Line"))
    schema["$defs"]["Note"]["properties"]["rows"] = schema["$defs"]["Note"]["properties"]["lines"]
    pin(write_schema(folder / "schema", schema, FILE))
    third = '"third" = { changes = "note", id = "noteId", appends = "line", to = "rows" }'
    with pytest.raises(SchemaError, match="'other': It appends to 'lines', but another kind to 'rows'"):
        generate(folder, f"{FACTS}{third}\n")


def test_updates_in_another_property_are_reported(folder: Path) -> None:
    text = (folder / "schema/v1/schema.json").read_text("utf-8").replace('"update"', '"event"')
    (folder / "schema/v1/schema.json").write_text(text, "utf-8")
    pin(folder / "schema")
    with pytest.raises(SchemaError, match="session/update has no union of updates in its property 'update' in v1/"):
        generate(folder, FACTS.replace("update.note", "event.note"))


@pytest.mark.parametrize(
    ("entry", "effect"),
    [
        ('says = "agent", id = "noteId", appends = "block"', Says("agent", "note_id", "block")),
        ('removes = "note", id = "noteId"', Removes("note", "note_id")),
        ('sets = { all = "*", address = "noteId" }, null = "keeps"', Sets({"all": "", "address": "note_id"}, "keeps")),
        ('adds_to = "notes"', AddsTo("notes")),
    ],
)
def test_each_effect_is_emitted(folder: Path, entry: str, effect: Effect) -> None:
    generate(folder, FACTS.replace(OTHER, f'"other" = {{ {entry} }}'))
    assert updates(folder, "v1")["other"] == effect


def test_an_update_that_does_nothing_is_not_in_the_table(folder: Path) -> None:
    generate(folder, FACTS.replace(OTHER, '"other" = {}'))
    assert [*updates(folder, "v1")] == ["note"]


def test_an_entry_of_the_unstable_profile_says_what_its_update_does(folder: Path) -> None:
    add_unstable(folder, SCHEMA)
    generate(folder, f'{FACTS}\n[v1_unstable.updates]\n"other" = {{ adds_to = "notes" }}\n')
    assert isinstance(updates(folder, "v1")["other"], Changes)
    assert updates(folder, "v1_unstable")["other"] == AddsTo("notes")


def test_an_update_may_be_in_one_profile_of_a_version_alone(folder: Path) -> None:
    later: Schema = json.loads(json.dumps(SCHEMA).replace('"const": "other"', '"const": "later"'))
    add_unstable(folder, later)
    generate(folder, f'{FACTS}\n[v1_unstable.updates]\n"later" = {{ adds_to = "notes" }}\n')
    assert [*updates(folder, "v1")] == ["note", "other"]
    assert [*updates(folder, "v1_unstable")] == ["note", "later"]


def test_an_entry_for_an_update_of_the_next_schemas_is_not_needed_yet(folder: Path) -> None:
    generate(folder, f'{FACTS}\n[v1_next.updates]\n"later" = {{ adds_to = "notes" }}\n')
    assert [*updates(folder, "v1")] == ["note", "other"]


# Several entries


CLOSED = '"session/close" = { capability = "agentCapabilities.close", ends = "sessionId", exempt = "sessionId" }\n'
RENAMED: Schema = json.loads(json.dumps(SCHEMA).replace('"cwd"', '"folder"').replace('"close"', '"end"'))
OWN = "[v1_unstable.places]" + FACTS.partition("[v1.places]")[2].partition("[v1.protocol]")[0]
OWN = re.sub(r"\[v1\.(agent|client)\]", r"[v1_unstable.\1]", OWN).replace(".cwd", ".folder").replace(".close", ".end")
WITHOUT_CWD = '[v1_unstable.places]\n"NewRequest.cwd" = {}'
OWN = OWN.replace("[v1_unstable.places]", WITHOUT_CWD)


def add_unstable(folder: Path, schema: Schema) -> None:
    files = (FILE, PLACES_OF["v1_unstable"][0])
    write_schema(folder / "schema", schema, files[1])
    hashes = {file: {"sha256": sha256((folder / "schema" / file).read_bytes())} for file in files}
    pin(folder / "schema", files=hashes)


def methods(folder: Path, profile: str = "v1_unstable") -> str:
    return (folder / f"out/acp_bindings/{profile}/methods.py").read_text("utf-8")


def test_an_entry_of_the_unstable_profile_counts_in_that_profile_alone(folder: Path) -> None:
    add_unstable(folder, RENAMED)
    generate(folder, f"{FACTS}\n{OWN}\n")
    assert 'Absolute("cwd", rejects=True)' in methods(folder, "v1")
    assert 'Absolute("folder", rejects=True)' in methods(folder)
    assert 'Needs("folders", "agentCapabilities.end")' in methods(folder)
    assert 'capability="agentCapabilities.end"' in methods(folder)


def test_among_equal_entries_the_unstable_profiles_counts(folder: Path) -> None:
    add_unstable(folder, SCHEMA)
    generate(folder, f"{FACTS}\n[v1_unstable.agent]\n{CLOSED}")
    assert "gone=-32002" in methods(folder, "v1")
    assert "gone=-32002" not in methods(folder)


@pytest.mark.parametrize("table", ["v1_unstable", "v1_next"])
def test_an_entry_for_names_that_no_pinned_schema_has_yet_does_not_count(folder: Path, table: str) -> None:
    add_unstable(folder, SCHEMA)
    generate(folder, FACTS)
    before = tree(folder / "out")
    generate(folder, f"{FACTS}\n{OWN.replace('v1_unstable', table)}\n")
    assert tree(folder / "out") == before


def test_an_unstable_profile_without_a_name_that_the_stable_one_has_is_refused(folder: Path) -> None:
    renamed = json.loads(json.dumps(SCHEMA).replace('"cwd"', '"folder"'))
    add_unstable(folder, renamed)
    with pytest.raises(SchemaError) as caught:
        generate(folder, FACTS)
    assert caught.value.profile == "v1_unstable"
    assert str(caught.value) == (
        "codegen/methods.toml [v1.places] 'NewRequest.cwd': There is no such place in the messages of "
        "v1/schema.unstable.json, unlike in another profile. Correct the entry, or add one that fits to "
        "[v1_unstable.places], and there an empty one for this place."
    )


def test_a_property_of_all_messages_can_differ_in_the_unstable_profile(folder: Path) -> None:
    renamed = json.loads(json.dumps(SCHEMA).replace('"sessionId"', '"id"'))
    add_unstable(folder, renamed)
    with pytest.raises(SchemaError, match="'sessionId'"):
        generate(folder, FACTS)
    own = FACTS.replace("[v1.", "[v1_unstable.").replace('"sessionId"', '"id"')
    generate(folder, f"{FACTS}{own}")
    assert 'session="sessionId"' in methods(folder, "v1")
    assert 'session="id"' in methods(folder)


def test_the_tables_name_an_attribute_from_names_toml_as_the_model_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"sessionId": "session-id", "stopReason": "stop-reason"}
    schema, facts = json.dumps(SCHEMA), FACTS
    for key, other in keys.items():
        schema, facts = schema.replace(key, other), facts.replace(key, other)
    pin(write_schema(folder / "schema", json.loads(schema), FILE))
    names = [f'"{key}" = "{key.replace("-", "_")}"\n' for key in keys.values()]
    (folder / "names.toml").write_text(f"[attributes]\n{''.join(names)}", "utf-8")
    monkeypatch.setattr("codegen.chosen_names.NAMES_TOML", folder / "names.toml")
    generate(folder, facts)
    text = (folder / "out/acp_bindings/v1/methods.py").read_text("utf-8")
    assert 'session_attribute="session_id"' in text
    assert 'id="stop_reason"' in text
