"""A draft that can't be read keeps its pinned schema, and never stops the upgrade of the stable profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.codegen.upgrade.upgrading import Repository
from tests.support.codegen.build import STRING, Schema, acp_schema, model, part_of, ref
from tests.support.codegen.refusal_base import BASE, changed

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.xdist_group("upgrade command")]


def draft(**keywords: Any) -> Schema:
    """Return a schema with a type, to which keywords are added, and a method of version 2."""
    params = model(["sessionId"], sessionId=STRING, text=ref("Text"))
    text = {**model(["text"], text=STRING), **keywords}
    return acp_schema({"Text": text, "UpdateNotification": part_of("session/update", "client", params)})


MORE = {"properties": {"text": STRING, "more": STRING}}
NEW, NEW_DRAFT = changed(Text={**model(["text"]), **MORE}), draft(**MORE)
UNKNOWN, UNKNOWN_DRAFT = changed(Text={**model(), "x-new-keyword": True}), draft(**{"x-new-keyword": True})
HELD = "v2_draft keeps its old schema, because the new one can't be read: v2/schema.json#/$defs/Text/x-new-keyword: "


@pytest.fixture(scope="module")
def with_draft(made: tuple[Repository, str]) -> str:
    """The commit in which the repository has a stable profile and a draft, of version 2."""
    repository, first = made
    repository.reset(first)
    fetched = repository.copy.run("fetch", str(repository.package("1.0.0", BASE, v2_draft=draft())))
    assert fetched.code == 0, fetched.err
    assert repository.copy.run("regen").code == 0
    repository.commit()
    return repository.git("rev-parse", "HEAD")


@pytest.fixture
def repository(made: tuple[Repository, str], with_draft: str) -> Repository:
    made[0].reset(with_draft)
    return made[0]


def upgraded(repository: Repository, source: Path, *options: str) -> str:
    done = repository.run(source, *options)
    assert (done.code, done.err) == (0, "")
    return done.out


def test_a_draft_without_a_rule_is_held_back_alone(repository: Repository, tmp_path: Path) -> None:
    source = repository.package("1.1.0", NEW, v2_draft=UNKNOWN_DRAFT, v2_draft_unstable=NEW_DRAFT)
    out = upgraded(repository, source, "--report", str(tmp_path))
    assert " ".join(out.split()).startswith(HELD)
    assert "more: " in repository.text("generated/acp_bindings/v1/models/other.py")
    assert "more: " not in repository.text("generated/acp_bindings/v2_draft/models/updates.py")
    assert "more: " in repository.text("generated/acp_bindings/v2_draft_unstable/models/updates.py")
    assert "kept      v2/schema.json\n" in out
    assert repository.copy.run("check").code == 0
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "keeps its old schema" in report[: report.index("| Profile |")]


def test_the_pins_say_which_release_the_schema_of_a_held_back_draft_is_from(repository: Repository) -> None:
    upgraded(repository, repository.package("1.1.0", NEW, v2_draft=UNKNOWN_DRAFT))
    assert repository.pins["source"] == "folder:@acp/sdk@1.1.0"
    assert repository.pins["files"]["v2/schema.json"]["source"] == "folder:@acp/sdk@1.0.0"
    assert "source" not in repository.pins["files"]["v1/schema.json"]


def test_a_held_back_draft_catches_up_when_it_can_be_read(repository: Repository) -> None:
    upgraded(repository, repository.package("1.1.0", NEW, v2_draft=UNKNOWN_DRAFT))
    repository.commit()
    upgraded(repository, repository.package("1.2.0", NEW, v2_draft=NEW_DRAFT))
    assert "source" not in repository.pins["files"]["v2/schema.json"]
    assert "more: " in repository.text("generated/acp_bindings/v2_draft/models/updates.py")


def test_a_new_draft_that_can_not_be_read_is_left_out(repository: Repository) -> None:
    out = upgraded(repository, repository.package("1.1.0", NEW, v2_draft=NEW_DRAFT, v1_unstable=UNKNOWN))
    assert out.startswith("v1_unstable keeps its old schema")
    assert not (repository.root / "schema/v1/schema.unstable.json").exists()
    assert repository.copy.run("check").code == 0


def test_a_stable_profile_that_can_not_be_read_stops_the_upgrade(repository: Repository) -> None:
    error = repository.refused(repository.package("1.1.0", UNKNOWN, v2_draft=NEW_DRAFT), 1)
    assert "v1/schema.json#/$defs/Text/x-new-keyword: The keyword 'x-new-keyword' has no rule." in error


def test_a_draft_that_lacks_a_name_in_a_fact_keeps_its_pinned_schema(repository: Repository) -> None:
    without = acp_schema({"UpdateNotification": part_of("session/update", "client", model())})
    out = upgraded(repository, repository.package("1.1.0", NEW, v2_draft=without))
    assert out.startswith("v2_draft keeps its old schema")
    assert "`session` is 'sessionId'" in " ".join(out.split())
