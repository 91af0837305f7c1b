"""Facts about methods follow when upstream renames a method, or something that a fact names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.codegen.upgrade.upgrading import Repository
from tests.support.codegen.build import Schema
from tests.support.codegen.facts_base import FACTS, SCHEMA

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.xdist_group("upgrade command")]

METHODS = "codegen/methods.toml"
# Another name in the schema, and what the message says about the fact that names the old one.
NAMES = {
    "a property": ("cwd", "folder", "'NewRequest.cwd': There is no such place in"),
    "a tag": ("http", "https", "'Server.http': There is no such place in"),
    "a capability": ("close", "end", "needs agentCapabilities.close, but there is no 'close' here."),
    "a property of all messages": ("sessionId", "id", "but its params have no 'sessionId'"),
}
CANCELLED = 'cancelled = { by = "session/cancel", result = { stopReason = "cancelled" } }'

ACCEPTED = 'accepted = { by = "session/update", parts = ["update.note"], id = "stopReason" }'


def renamed(old: str, new: str) -> Schema:
    data: Schema = json.loads(json.dumps(SCHEMA).replace(f'"{old}"', f'"{new}"'))
    return data


@pytest.fixture(scope="module")
def two_profiles(made: tuple[Repository, str]) -> str:
    """The commit in which the repository has a stable and an unstable profile with the same schema."""
    repository, first = made
    repository.reset(first)
    repository.write(METHODS, FACTS)
    assert repository.copy.run("fetch", str(repository.package("1.0.0", SCHEMA, v1_unstable=SCHEMA))).code == 0
    assert repository.copy.run("regen").code == 0
    repository.commit()
    return repository.git("rev-parse", "HEAD")


@pytest.fixture
def repository(made: tuple[Repository, str], two_profiles: str) -> Repository:
    repository = made[0]
    repository.reset(two_profiles)
    return repository


def upgraded(repository: Repository, source: Path, *options: str) -> str:
    done = repository.run(source, *options)
    assert (done.code, done.err) == (0, ""), done.err
    return " ".join(done.out.split())


def methods_of(repository: Repository, profile: str) -> str:
    return repository.text(f"generated/acp_bindings/{profile}/methods.py")


def entries(old: str, new: str) -> str:
    """Return the entries of the agent's methods and of places with another name in them."""
    return FACTS.partition("[v1.places]\n")[2].partition("\n[v1.client]")[0].replace(old, new)


@pytest.mark.parametrize(("old", "new", "words"), NAMES.values(), ids=NAMES)
def test_an_unstable_profile_that_loses_a_check_is_held_back_alone(
    repository: Repository, old: str, new: str, words: str
) -> None:
    out = upgraded(repository, repository.package("1.1.0", renamed("url", "address"), v1_unstable=renamed(old, new)))
    assert out.startswith("v1_unstable keeps its old schema")
    assert words in out
    assert "add one that fits to [v1_unstable." in out or "sessionId" in out
    assert "Left to do: 1. Correct what the first lines report about v1_unstable, and run this command again." in out
    assert repository.copy.run("check").code == 0


def test_a_name_that_only_the_unstable_profile_had_holds_back_that_profile(repository: Repository) -> None:
    later_fact = '"NewRequest.later" = { absolute = true }\n'
    repository.write(METHODS, FACTS.replace('"NewRequest.cwd"', f'{later_fact}"NewRequest.cwd"'))
    later: Schema = json.loads(json.dumps(SCHEMA).replace('"cwd": ', '"later": {"type": "string"}, "cwd": '))
    upgraded(repository, repository.package("1.1.0", SCHEMA, v1_unstable=later))
    repository.commit()
    out = upgraded(repository, repository.package("1.2.0", renamed("url", "address"), v1_unstable=SCHEMA))
    assert out.startswith("v1_unstable keeps its old schema")
    assert "'NewRequest.later': There is no such place in the messages of v1/schema.unstable.json any more." in out


def test_a_name_that_only_the_stable_profile_loses_stops_the_upgrade(repository: Repository) -> None:
    error = repository.refused(repository.package("1.1.0", renamed("cwd", "folder"), v1_unstable=SCHEMA), 1)
    assert "'NewRequest.cwd': There is no such place in the messages of v1/schema.json any more." in error
    assert error.endswith("add one that fits to [v1_next.places], and there an empty one for this place.\n")


@pytest.mark.parametrize(("table", "profiles"), [("v1_unstable", {"v1_unstable"}), ("v1_next", {"v1", "v1_unstable"})])
def test_a_fact_is_corrected_in_a_commit_of_its_own_before_the_upgrade(
    repository: Repository, tmp_path: Path, table: str, profiles: set[str]
) -> None:
    corrected = entries(".cwd", ".folder").replace("Capabilities.close", "Capabilities.end")
    corrected = corrected.replace("[v1.agent]", f"[{table}.agent]")
    repository.write(METHODS, f'{FACTS}\n[{table}.places]\n"NewRequest.cwd" = {{}}\n{corrected}')
    assert repository.copy.run("check").code == 0
    repository.commit()
    changed: Schema = json.loads(json.dumps(renamed("cwd", "folder")).replace('"close"', '"end"'))
    stable = changed if "v1" in profiles else SCHEMA
    out = upgraded(repository, repository.package("1.1.0", stable, v1_unstable=changed), "--report", str(tmp_path))
    assert ('[v1.places] "NewRequest.cwd"' in out) is ("v1" in profiles)
    assert repository.copy.run("check").code == 0
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    results = {(finding["rule"], finding["profile"]) for finding in report["findings"]}
    for rule in ("method-needs-changed", "method-capability-changed"):
        assert {profile for name, profile in results if name.startswith(rule)} == profiles


# Renamed methods


def test_a_renamed_method_keeps_its_facts_and_the_rank_of_its_finding(repository: Repository, tmp_path: Path) -> None:
    changed = renamed("session/prompt", "session/ask")
    out = upgraded(repository, repository.package("1.1.0", changed, v1_unstable=changed), "--report", str(tmp_path))
    entry = f'"session/ask" = {{ baseline = true, {CANCELLED}, {ACCEPTED} }}'
    assert f"{entry} # to be confirmed\n" in repository.text(METHODS)
    assert f"[v1.agent] {entry}" in out
    assert methods_of(repository, "v1").count("SESSION_ASK") == 2
    report = (tmp_path / "report.md").read_text("utf-8")
    assert report.index("Breaks messages of baseline methods") < report.rindex("session/ask")
    assert "method-baseline" not in report
    assert repository.copy.run("check").code == 0


def test_a_renamed_notification_still_cancels_the_same_method(repository: Repository) -> None:
    changed = renamed("session/cancel", "session/stop")
    upgraded(repository, repository.package("1.1.0", changed, v1_unstable=changed))
    assert CANCELLED.replace('cancel"', 'stop"') in repository.text(METHODS)
    assert 'cancelled=Cancelled(by="session/stop"' in methods_of(repository, "v1")
    assert repository.copy.run("check").code == 0
