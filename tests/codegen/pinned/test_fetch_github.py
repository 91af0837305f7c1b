"""Fetching a release of upstream's repository, from a stand-in for GitHub on this machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.__main__ import SCHEMA
from codegen.pinned.pins import load, sha256
from codegen.pinned.profiles import PLACES_OF
from codegen.pinned.sources import download
from codegen.regen import regenerate
from tests.support.codegen.build import tree
from tests.support.codegen.fetching import NEW, OLD, fetched, package, refused
from tests.support.codegen.github import Answer, GitHub, github

pytestmark = pytest.mark.slow

OLD_JSON, NEW_JSON = json.dumps(OLD).encode(), json.dumps(NEW).encode()
TAG = "github:schema-v1.21.0"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    """A stand-in for GitHub, whose release has the same assets as upstream's."""
    with github() as found:
        for variable in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setattr("codegen.pinned.sources.github.ADDRESS", found.url)
        found.assets = {
            "meta.json": b"{}",
            "meta.unstable.json": b"{}",
            "schema.json": NEW_JSON,
            "schema.unstable.json": NEW_JSON,
        }
        yield found


@pytest.mark.usefixtures("hub")
def test_a_release_replaces_the_pinned_schemas(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetched(TAG, target, capsys)[:3] == [
        "unchanged LICENSE",
        "changed   v1/schema.json",
        "changed   v1/schema.unstable.json",
    ]
    assert (target / "v1/schema.json").read_bytes() == NEW_JSON
    assert (target / "LICENSE").read_text("utf-8") == "the old licence"
    pins = json.loads((target / "PINNED.json").read_bytes())
    assert pins == {
        "source": TAG,
        "version": "1.21.0",
        "license": "",
        "files": {file: {"sha256": sha256(NEW_JSON)} for file in ("v1/schema.json", "v1/schema.unstable.json")},
    }
    regenerate(target, tmp_path / "out")


@pytest.mark.usefixtures("hub")
def test_fetching_the_same_release_again_changes_nothing(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetched(TAG, target, capsys)
    before = tree(target)
    assert {line.split()[0] for line in fetched(TAG, target, capsys)[:3]} == {"unchanged"}
    assert tree(target) == before


def test_a_release_keeps_the_schemas_of_the_other_version(
    tmp_path: Path, hub: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "schema"
    files = ("v1/schema.json", "v1/schema.unstable.json", "v2/schema.json", "v2/schema.unstable.json")
    fetched(package(tmp_path / "package", dict.fromkeys(files, OLD)), target, capsys)
    hub.tag = "schema-v2.0.0-alpha.3"
    del hub.assets["schema.unstable.json"]
    assert fetched("github:schema-v2.0.0-alpha.3", target, capsys) == [
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
        "v2_draft": ("github:schema-v2.0.0-alpha.3", "2.0.0-alpha.3"),
    }
    regenerate(target, tmp_path / "out")
    text = (tmp_path / "out/acp_bindings/v1/__init__.py").read_text("utf-8")
    assert 'source="folder:@acp/sdk@3.0.0"' in text


def test_two_releases_together_cover_both_versions(
    tmp_path: Path, hub: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "schema"
    assert any("no v2/schema.json" in line for line in fetched(TAG, target, capsys))
    hub.tag = "schema-v2.0.0-alpha.3"
    assert not any("This release has no" in line for line in fetched("github:schema-v2.0.0-alpha.3", target, capsys))
    origins = [each.profile.source for each in load(target, pinned=True)]
    assert origins == [TAG, TAG, "github:schema-v2.0.0-alpha.3", "github:schema-v2.0.0-alpha.3"]


def test_a_release_with_the_pinned_files_changes_nothing(
    tmp_path: Path, hub: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "schema"
    shutil.copytree(SCHEMA, target)
    hub.assets = {path.name: path.read_bytes() for path in (SCHEMA / "v1").iterdir()}
    words = {line.split()[1]: line.split()[0] for line in fetched(TAG, target, capsys)}
    assert words.pop("LICENSE") == "unchanged"
    assert words == {
        place: "unchanged" if place.startswith("v1") else "kept"
        for place in (PLACES_OF[name][0] for name in ("v1", "v1_unstable", "v2_draft"))
    } | {"v2/schema.unstable.json": "kept"}


def test_the_one_file_of_old_releases_is_replaced_by_the_files_of_its_version(
    tmp_path: Path, hub: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "schema"
    fetched(package(tmp_path / "package", {"schema.json": OLD, "v2/schema.unstable.json": OLD}), target, capsys)
    hub.assets.pop("schema.unstable.json")
    lines = fetched(TAG, target, capsys)
    assert lines[:3] == ["removed   schema.json", "added     v1/schema.json", "kept      v2/schema.unstable.json"]


# Failures


FIRST, LAST = "schema.json", "schema.unstable.json"
HTML = b"<!DOCTYPE html><html><title>Unicorn!</title></html>"
HALF = Answer(NEW_JSON[:-20], length=len(NEW_JSON))
BAD: dict[str, tuple[str, str, Answer]] = {
    "rate limited": ("GitHub answered 429 when asked for v1/schema.json of", FIRST, Answer(status=429)),
    "broken": ("answered 502", LAST, Answer(HTML, 502)),
    "silent": ("can't be downloaded (timed out)", FIRST, Answer(never=True)),
    "a redirect in a circle": ("answered 302", FIRST, Answer(status=302, headers={"Location": "schema.json"})),
    "a redirect to a file": ("answered 302", FIRST, Answer(status=302, headers={"Location": "file:///etc/passwd"})),
    "a page instead of a file": ("v1/schema.json is not JSON: ", FIRST, Answer(HTML)),
    "half a file": (f"ended after {len(NEW_JSON) - 20} bytes", FIRST, HALF),
    "half of the last file": (f"ended after {len(NEW_JSON) - 20} bytes", LAST, HALF),
    "half a file with its right length": ("v1/schema.json is not JSON", FIRST, Answer(NEW_JSON[:-20])),
    "too many bytes": ("more than 16777216 bytes", FIRST, Answer(b" " * (download.MAX_BYTES + 1))),
    "other JSON": ("v1/schema.json is not an ACP schema", FIRST, Answer(b'{"name": "x"}')),
}


@pytest.mark.parametrize(("words", "file", "answer"), BAD.values(), ids=BAD)
def test_a_failure_gives_one_line_and_changes_nothing(
    hub: GitHub,
    target: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    file: str,
    answer: Answer,
) -> None:
    if answer.never:
        monkeypatch.setattr(download, "SECONDS", 0.2)
    hub.instead[file] = answer
    assert words in refused(TAG, target, capsys)


def test_without_a_network_there_is_one_line(hub: GitHub, target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub.close()
    assert "can't be downloaded (" in refused(TAG, target, capsys)


def test_a_release_without_schemas_gives_one_line(
    hub: GitHub, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.assets = {"meta.json": b"{}"}
    assert "There is no release schema-v1.21.0 of agentclientprotocol/" in refused(TAG, target, capsys)


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
def test_an_invalid_tag_gives_one_line(
    target: Path, capsys: pytest.CaptureFixture[str], source: str, words: str
) -> None:
    assert words in refused(source, target, capsys)


def test_an_unknown_version_of_the_protocol_gives_one_line(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "schema-v3.0.0 has schemas without a profile" in refused("github:schema-v3.0.0", target, capsys)


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("spoil", ["edit", "unpin"])
def test_a_kept_schema_has_to_match_its_pin(tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: str) -> None:
    target = tmp_path / "here/schema"
    fetched(package(tmp_path / "package", {"v1/schema.json": OLD, "v2/schema.json": OLD}), target, capsys)
    if spoil == "edit":
        (target / "v2/schema.json").write_bytes(NEW_JSON)
    else:
        (target / "PINNED.json").unlink()
    message = refused(TAG, target, capsys)
    assert ("v2/schema.json would be kept" if spoil == "edit" else "no PINNED.json") in message
