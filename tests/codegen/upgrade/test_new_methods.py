"""The facts about a new method are proposed, written to methods.toml, and marked for a person to confirm."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.data.facts_file import find_shared_properties
from codegen.data.resolve import Resolver
from codegen.pinned.pins import load
from codegen.regen import read_schema
from tests.codegen.upgrade.upgrading import Repository
from tests.support.codegen.build import Schema, model, part_of, ref, tagged
from tests.support.codegen.refusal_base import changed
from tools.paths import ROOT

FLAG = {"type": "boolean", "default": False}
VERSION = {"protocolVersion": {"type": "integer"}}
CLIENT = {"clientCapabilities": ref("Text"), "clientInfo": ref("Text")}
AGENT = {"agentCapabilities": ref("Capabilities"), "agentInfo": ref("Text")}
INITIALIZE = {
    "Capabilities": model(rewind=FLAG),
    "InitializeRequest": part_of("initialize", "agent", model(["protocolVersion"], **VERSION, **CLIENT)),
    "InitializeResponse": part_of("initialize", "agent", model(["protocolVersion"], **VERSION, **AGENT)),
}


def method(doc: str = "") -> Schema:
    params = {**model(), "description": doc} if doc else model()
    return {
        "RewindRequest": part_of("session/rewind", "agent", params),
        "RewindResponse": part_of("session/rewind", "agent", model()),
    }


@pytest.mark.parametrize(
    ("doc", "entry"),
    [
        ("Only if the agent supports `rewind`.", 'capability = "agentCapabilities.rewind"'),
        ("It says nothing.", 'offered = "the other side is known to handle it"'),
    ],
)
@pytest.mark.slow
@pytest.mark.xdist_group("upgrade command")
def test_an_entry_is_written_and_left_to_confirm(repository: Repository, tmp_path: Path, doc: str, entry: str) -> None:
    out = repository.upgrade("1.1.0", changed(**INITIALIZE, **method(doc)), "--report", str(tmp_path))
    line = f'"session/rewind" = {{ {entry} }}'
    table = repository.text("codegen/methods.toml").partition("[v1.agent]\n")[2].partition("\n\n")[0]
    assert table.endswith(f"\n{line} # to be confirmed")
    assert f"   [v1.agent] {line}\n" in out
    assert "must be confirmed" in (tmp_path / "report.md").read_text("utf-8")
    assert repository.copy.run("check").code == 0


@pytest.mark.slow
@pytest.mark.xdist_group("upgrade command")
def test_a_confirmed_entry_is_no_longer_left_to_confirm(repository: Repository) -> None:
    schema = changed(**INITIALIZE, **method())
    assert "Confirm these entries" in repository.upgrade("1.1.0", schema)
    text = repository.text("codegen/methods.toml")
    repository.write("codegen/methods.toml", text.replace(" # to be confirmed", ""))
    out = repository.upgrade("1.1.0", schema)
    assert "Confirm these entries" not in out
    assert "generated/" not in out


@pytest.mark.slow
@pytest.mark.xdist_group("upgrade command")
def test_different_proposals_of_two_profiles_are_named(repository: Repository) -> None:
    stable, unstable = (changed(**INITIALIZE, **method(doc)) for doc in ("It says nothing.", "If `rewind` is there."))
    error = repository.refused(repository.package("1.1.0", stable, v1_unstable=unstable), 1)
    assert 'two profiles propose different ones: { offered = "the other side is known to handle it" } and {' in error
    assert "Add an entry to [v1.agent]." in error


@pytest.mark.slow
@pytest.mark.xdist_group("upgrade command")
def test_without_an_upgrade_a_method_without_an_entry_stops_the_generator(repository: Repository) -> None:
    assert repository.copy.run("fetch", str(repository.package("1.1.0", changed(**method())))).code == 0
    done = repository.copy.run("regen")
    assert done.code == 2
    assert "codegen/methods.toml [v1.agent] has no entry for 'session/rewind'." in done.err


@pytest.mark.slow
@pytest.mark.xdist_group("upgrade command")
def test_a_new_kind_of_update_gets_an_empty_entry_that_is_left_to_confirm(repository: Repository) -> None:
    update = {"anyOf": [tagged("kind", "note", "Text")]}
    params = part_of("session/update", "client", model(["update"], update=ref("Update")))
    schema = changed(**INITIALIZE, Update=update, SessionNotification=params)
    out = repository.upgrade("1.1.0", schema)
    assert '\n[v1.updates]\n"note" = {} # to be confirmed\n' in repository.text("codegen/methods.toml")
    assert '   [v1.updates] "note" = {}\n' in out
    assert "Say in codegen/methods.toml what these updates do to the state of their session" in out
    assert "Confirm these entries" not in out
    assert repository.copy.run("check").code == 0
    repository.write("codegen/methods.toml", repository.text("codegen/methods.toml").replace('"note" = {}', "# none"))
    done = repository.copy.run("regen")
    assert done.code == 2
    assert "codegen/methods.toml [v1.updates] has no entry for the update 'note'. Say what it does." in done.err


@pytest.mark.slow
@pytest.mark.xdist_group("upgrade command")
def test_the_entry_of_a_removed_kind_of_update_is_left_to_remove(repository: Repository) -> None:
    def schema(*kinds: str) -> Schema:
        update = {"anyOf": [tagged("kind", kind, "Text") for kind in kinds]}
        params = part_of("session/update", "client", model(["update"], update=ref("Update")))
        return changed(**INITIALIZE, Update=update, SessionNotification=params)

    repository.upgrade("1.1.0", schema("note", "other"))
    repository.commit()
    out = repository.upgrade("1.2.0", schema("other"))
    assert 'codegen/methods.toml, [v1.updates] "note"' in out.partition("which have no effect:")[2]
    done = repository.copy.run("regen")
    assert done.code == 2
    assert "'note': There is no such update in session/update of any pinned schema of v1. Correct or remove" in done.err


def test_capabilities_proposed_for_todays_methods_are_the_confirmed_ones() -> None:
    """Where a capability is proposed, with the exceptions that the schema doesn't tell."""
    other: set[str] = set()
    total = 0
    for pinned in load(ROOT / "schema", pinned=True):
        facts = pinned.profile.own_tables
        bare = read_schema(pinned.schema, None)
        resolver = Resolver(bare, facts, find_shared_properties(facts))
        for method, decided in zip(bare.methods, read_schema(pinned.schema, facts).methods, strict=True):
            fact = resolver.resolve(method, [])
            total += fact.capability is not None
            if fact.capability not in (decided.capability, None):
                other.add(fact.wire)
    assert other <= {"session/prompt"}
    assert total > 30
