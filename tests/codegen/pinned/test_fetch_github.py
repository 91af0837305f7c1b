"""Fetching a release of upstream's repository. `test_download` tests the download of a file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from codegen.__main__ import SCHEMA
from codegen.errors import FetchError
from codegen.pinned.pins import load, sha256
from codegen.pinned.profiles import PLACES_OF
from codegen.regen import regenerate
from tests.support.codegen.build import tree
from tests.support.codegen.fetching import NEW, OLD, Fetched, Refused, package

NEW_JSON = json.dumps(NEW).encode()
TAG, DRAFT = "schema-v1.21.0", "schema-v2.0.0-alpha.3"
ADDRESS = "https://github.com/agentclientprotocol/agent-client-protocol/releases/download/"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files of GitHub, by tag and name: those of one release, and the file of a draft's release."""
    names = (f"{TAG}/meta.json", f"{TAG}/schema.json", f"{TAG}/schema.unstable.json", f"{DRAFT}/schema.json")
    files = dict.fromkeys(names, NEW_JSON)

    def download(address: str, what: str) -> bytes | None:
        return files.get(address.removeprefix(ADDRESS))

    monkeypatch.setattr("codegen.pinned.github.download", download)
    return files


@pytest.mark.usefixtures("hub")
def test_a_release_replaces_the_pinned_schemas(tmp_path: Path, target: Path, fetched: Fetched) -> None:
    assert fetched(f"github:{TAG}", target)[:3] == [
        "unchanged LICENSE",
        "changed   v1/schema.json",
        "changed   v1/schema.unstable.json",
    ]
    assert (target / "v1/schema.json").read_bytes() == NEW_JSON
    assert (target / "LICENSE").read_text("utf-8") == "the old licence"
    pins = json.loads((target / "PINNED.json").read_bytes())
    assert pins == {
        "source": f"github:{TAG}",
        "version": "1.21.0",
        "license": "",
        "files": {file: {"sha256": sha256(NEW_JSON)} for file in ("v1/schema.json", "v1/schema.unstable.json")},
    }
    regenerate(target, tmp_path / "out")


@pytest.mark.usefixtures("hub")
def test_fetching_the_same_release_again_changes_nothing(target: Path, fetched: Fetched) -> None:
    fetched(f"github:{TAG}", target)
    before = tree(target)
    assert {line.split()[0] for line in fetched(f"github:{TAG}", target)[:3]} == {"unchanged"}
    assert tree(target) == before


def test_a_release_keeps_the_schemas_of_the_other_version(
    tmp_path: Path, hub: dict[str, bytes], fetched: Fetched
) -> None:
    target = tmp_path / "schema"
    files = ("v1/schema.json", "v1/schema.unstable.json", "v2/schema.json", "v2/schema.unstable.json")
    fetched(package(tmp_path / "package", dict.fromkeys(files, OLD)), target)
    assert fetched(f"github:{DRAFT}", target) == [
        "kept      v1/schema.json",
        "kept      v1/schema.unstable.json",
        "changed   v2/schema.json",
        "removed   v2/schema.unstable.json",
    ]
    assert (target / "v1/schema.json").read_text("utf-8") == json.dumps(OLD, indent=2)
    origins = {each.profile.name: (each.profile.source, each.profile.version) for each in load(target, pinned=True)}
    assert origins == {
        "v1": ("folder:@acp/sdk@3.0.0", "3.0.0"),
        "v1_unstable": ("folder:@acp/sdk@3.0.0", "3.0.0"),
        "v2_draft": (f"github:{DRAFT}", "2.0.0-alpha.3"),
    }
    regenerate(target, tmp_path / "out")
    text = (tmp_path / "out/acp_bindings/v1/__init__.py").read_text("utf-8")
    assert 'source="folder:@acp/sdk@3.0.0"' in text


def test_two_releases_together_cover_both_versions(tmp_path: Path, hub: dict[str, bytes], fetched: Fetched) -> None:
    target = tmp_path / "schema"
    fetched(f"github:{TAG}", target)
    fetched(f"github:{DRAFT}", target)
    origins = [each.profile.source for each in load(target, pinned=True)]
    assert origins == [f"github:{TAG}", f"github:{TAG}", f"github:{DRAFT}"]


def test_a_release_with_the_pinned_files_changes_nothing(
    tmp_path: Path, hub: dict[str, bytes], fetched: Fetched
) -> None:
    target = tmp_path / "schema"
    shutil.copytree(SCHEMA, target)
    hub |= {f"{TAG}/{path.name}": path.read_bytes() for path in (SCHEMA / "v1").iterdir()}
    words = {line.split()[1]: line.split()[0] for line in fetched(f"github:{TAG}", target)}
    assert words.pop("LICENSE") == "unchanged"
    assert words == {
        place: "unchanged" if place.startswith("v1") else "kept"
        for place in (PLACES_OF[name][0] for name in ("v1", "v1_unstable", "v2_draft"))
    } | {"v2/schema.unstable.json": "kept"}


def test_the_one_file_of_old_releases_is_replaced_by_the_files_of_its_version(
    tmp_path: Path, hub: dict[str, bytes], fetched: Fetched
) -> None:
    target = tmp_path / "schema"
    fetched(package(tmp_path / "package", {"schema.json": OLD, "v2/schema.unstable.json": OLD}), target)
    del hub[f"{TAG}/schema.unstable.json"]
    lines = fetched(f"github:{TAG}", target)
    assert lines[:3] == ["removed   schema.json", "added     v1/schema.json", "kept      v2/schema.unstable.json"]


# Failures


def test_a_download_that_fails_changes_nothing(target: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(address: str, what: str) -> bytes:
        if "unstable" in what:
            raise FetchError(f"The download of {what} ended after 2 bytes.")
        return NEW_JSON

    monkeypatch.setattr("codegen.pinned.github.download", download)
    assert f"v1/schema.unstable.json of {TAG} ended" in refused(f"github:{TAG}", target)


def test_a_release_without_schemas_gives_one_line(hub: dict[str, bytes], target: Path, refused: Refused) -> None:
    hub.clear()
    assert "There is no release schema-v1.21.0 of agentclientprotocol/" in refused(f"github:{TAG}", target)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("github:schema-v1.99.0", "There is no release schema-v1.99.0"),
        ("github:", "is not a tag of upstream's schemas"),
        ("github:main", "is not a tag of upstream's schemas"),
        ("github:v1.7.0", "is not a tag of upstream's schemas"),
        ("github:schema-v1.21.0/../../../x", "is not a tag of upstream's schemas"),
    ],
)
@pytest.mark.usefixtures("hub")
def test_an_invalid_tag_gives_one_line(target: Path, refused: Refused, source: str, words: str) -> None:
    assert words in refused(source, target)


def test_an_unknown_version_of_the_protocol_gives_one_line(target: Path, refused: Refused) -> None:
    assert "schema-v3.0.0 has schemas without a profile" in refused("github:schema-v3.0.0", target)


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("spoil", ["edit", "unpin"])
def test_a_kept_schema_has_to_match_its_pin(tmp_path: Path, fetched: Fetched, refused: Refused, spoil: str) -> None:
    target = tmp_path / "here/schema"
    fetched(package(tmp_path / "package", {"v1/schema.json": OLD, "v2/schema.json": OLD}), target)
    if spoil == "edit":
        (target / "v2/schema.json").write_bytes(NEW_JSON)
    else:
        (target / "PINNED.json").unlink()
    message = refused(f"github:{TAG}", target)
    assert ("v2/schema.json would be kept" if spoil == "edit" else "no PINNED.json") in message
