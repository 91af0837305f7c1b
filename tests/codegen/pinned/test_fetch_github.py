"""Fetching a release of upstream's repository, from a stand-in for GitHub on this machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codegen.__main__ import SCHEMA
from codegen.pinned.pins import load, sha256
from codegen.pinned.profiles import file_of
from codegen.pinned.sources import download
from codegen.regen import regenerate
from tests.support.codegen.build import tree
from tests.support.codegen.fetching import NEW, OLD, fetched, package, refused
from tests.support.codegen.github import Answer, GitHub, github, rate_limited

pytestmark = pytest.mark.slow

OLD_JSON, NEW_JSON = json.dumps(OLD).encode(), json.dumps(NEW).encode()
TAG = "github:schema-v1.21.0"
SECRET = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    """A stand-in for GitHub, whose release has the same assets as upstream's."""
    with github() as found:
        for variable in ("GITHUB_TOKEN", "http_proxy", "HTTP_PROXY"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("GITHUB_API_URL", found.url)
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
        for place in (file_of(name).removeprefix("schema/") for name in ("v1", "v1_unstable", "v2_draft"))
    } | {"v2/schema.unstable.json": "kept"}


def test_the_one_file_of_old_releases_is_replaced_by_the_files_of_its_version(
    tmp_path: Path, hub: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "schema"
    fetched(package(tmp_path / "package", {"schema.json": OLD, "v2/schema.unstable.json": OLD}), target, capsys)
    hub.assets.pop("schema.unstable.json")
    lines = fetched(TAG, target, capsys)
    assert lines[:3] == ["removed   schema.json", "added     v1/schema.json", "kept      v2/schema.unstable.json"]


def test_a_file_without_a_digest_is_fetched(hub: GitHub, target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub.digests = {"schema.json": None}
    assert "changed   v1/schema.json" in fetched(TAG, target, capsys)


# The token


def test_the_token_is_sent_only_to_the_api(
    hub: GitHub, target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", SECRET + "\n")
    fetched(TAG, target, capsys)
    assert {(place, token) for place, _, token in hub.asked} == {("api", f"Bearer {SECRET}"), ("storage", None)}


def test_without_a_token_no_authorization_is_sent(
    hub: GitHub, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetched(TAG, target, capsys)
    assert {token for _, _, token in hub.asked} == {None}


@pytest.mark.parametrize(
    ("token", "words"),
    [(SECRET, "does not accept the token"), (f"{SECRET}\r\nX: y", "a token can't have"), ("é", "a token can't have")],
)
def test_the_message_about_an_invalid_token_does_not_contain_it(
    hub: GitHub,
    target: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    words: str,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token)
    hub.instead["schema-v1.21.0"] = Answer(b'{"message": "Bad credentials"}', 401)
    message = refused(TAG, target, capsys)
    assert words in message
    assert SECRET not in message


# Failures


def answers(path: str, answer: Answer) -> Callable[[GitHub], None]:
    return lambda hub: hub.instead.update({path: answer})


def says(**keys: object) -> Callable[[GitHub], None]:
    return lambda hub: hub.release.update(keys)


def has(**files: bytes) -> Callable[[GitHub], None]:
    return lambda hub: hub.assets.update({f"{name.replace('_', '.')}.json": each for name, each in files.items()})


def has_html_without_a_digest(hub: GitHub) -> None:
    hub.assets["schema.json"] = b"<!DOCTYPE html><html></html>"
    hub.digests["schema.json"] = None


RELEASE, FIRST, LAST = "schema-v1.21.0", "schema.json", "schema.unstable.json"
HTML = Answer(b"<!DOCTYPE html><html><title>Unicorn!</title></html>", headers={"Content-Type": "text/html"})
HALF = Answer(NEW_JSON[:-20], length=len(NEW_JSON))
BAD: dict[str, tuple[str, Callable[[GitHub], None]]] = {
    "no network": ("can't be reached", lambda hub: hub.close()),
    "rate limited": (
        "rate limit is used up until 2026-11-02 12:30 UTC",
        answers(RELEASE, rate_limited(**{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1793622600"})),
    ),
    "rate limited for a while": ("used up for 60 seconds", answers(RELEASE, rate_limited(**{"Retry-After": "60"}))),
    "too many requests": ("rate limit is used up. Wait, or set GITHUB_TOKEN", answers(RELEASE, Answer(status=429))),
    "forbidden": ("answered 403", answers(RELEASE, Answer(b"{}", 403))),
    "broken": ("answered 502", answers(RELEASE, Answer(HTML.content, 502))),
    "silent": ("did not answer within 0.2 seconds", answers(RELEASE, Answer(never=True))),
    "a page instead of the release": ("not JSON: it begins with b'<!DOCTYPE html>", answers(RELEASE, HTML)),
    "half a release": ("ended after 10 bytes", answers(RELEASE, Answer(b'{"assets":', length=900))),
    "half a release with its right length": ("not JSON", answers(RELEASE, Answer(b'{"assets": ['))),
    "no release": ("has no list of assets", answers(RELEASE, Answer(b"{}"))),
    "a release without assets": ("There is no schema in the release", says(assets=[])),
    "assets without names": ("has an asset without a valid id", says(assets=[{"id": 1}])),
    "assets that are not objects": ("has an asset without a valid id", says(assets=["schema.json"])),
    "a redirect in a circle": ("answered 302", answers("/assets/2", Answer(status=302, headers={"Location": "2"}))),
    "a redirect to a file": (
        "answered 302",
        answers("/assets/2", Answer(status=302, headers={"Location": "file:///etc/passwd"})),
    ),
    "a missing file": ("does not have v1/schema.json of schema-v1.21.0 (404)", answers(FIRST, Answer(status=404))),
    "a page instead of a file": ("v1/schema.json of schema-v1.21.0 has the hash", answers(FIRST, HTML)),
    "a page as a file": ("v1/schema.json is not JSON", has_html_without_a_digest),
    "half a file": (f"ended after {len(NEW_JSON) - 20} bytes", answers(FIRST, HALF)),
    "half of the last file": (f"ended after {len(NEW_JSON) - 20} bytes", answers(LAST, HALF)),
    "half a file with its right length": ("has the hash", answers(FIRST, Answer(NEW_JSON[:-20]))),
    "a wrong hash": ("but GitHub announced sha256:0000.", lambda hub: hub.digests.update({LAST: "sha256:0000"})),
    "a hash of an unknown kind": ("GitHub announced md5:1", lambda hub: hub.digests.update({LAST: "md5:1"})),
    "too many bytes": ("more than 16777216 bytes", answers(FIRST, Answer(b" " * (download.MAX_BYTES + 1)))),
    "other JSON": ("v1/schema.json is not an ACP schema", has(schema=b'{"name": "x"}')),
    "a schema without a profile": ("a schema without a profile, v1/schema.v2.json", has(schema_v2=NEW_JSON)),
}


@pytest.mark.parametrize(("words", "spoil"), BAD.values(), ids=BAD)
def test_a_failure_gives_one_line_and_changes_nothing(
    hub: GitHub,
    target: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    spoil: Callable[[GitHub], None],
) -> None:
    if spoil is BAD["silent"][1]:
        monkeypatch.setattr(download, "SECONDS", 0.2)
    spoil(hub)
    assert words in refused(TAG, target, capsys)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("github:schema-v1.99.0", "does not have the release schema-v1.99.0"),
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


def test_an_unknown_version_of_the_protocol_gives_one_line(
    hub: GitHub, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.tag = "schema-v3.0.0"
    assert "a schema without a profile, v3/schema.json" in refused("github:schema-v3.0.0", target, capsys)


@pytest.mark.parametrize("address", ["file:///etc", "api.github.com", "http://[", "http://", "http://127.0.0.1:x"])
def test_an_invalid_address_gives_one_line(
    target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", address)
    refused(TAG, target, capsys)


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
