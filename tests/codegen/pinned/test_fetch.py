"""Fetching replaces the pinned schemas, and changes nothing if the source is invalid."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.__main__ import SCHEMA
from codegen.errors import FetchError
from codegen.pinned.fetch import prepare_fetch
from codegen.pinned.pins import sha256
from codegen.pinned.release import read_folder
from codegen.regen import regenerate
from tests.support.codegen.build import tree, write_schema
from tests.support.codegen.pinning import NEW, OLD, Fetched, Refused, package


def test_a_package_replaces_the_pinned_schemas(tmp_path: Path, target: Path, fetched: Fetched) -> None:
    source = package(tmp_path / "package", {"v1/schema.json": NEW, "v2/schema.json": OLD})
    (source / "LICENSE").write_text("the new licence", "utf-8")
    assert fetched(source, target) == [
        "changed   LICENSE",
        "changed   v1/schema.json",
        "removed   v1/schema.unstable.json",
        "added     v2/schema.json",
        "folder:@acp/sdk@3.0.0 is pinned. Next, run `make regen`.",
    ]
    assert (target / "v1/schema.json").read_bytes() == (source / "schema/v1/schema.json").read_bytes()
    assert (target / "LICENSE").read_text("utf-8") == "the new licence"
    assert (target / "notes.md").read_text("utf-8") == "kept"
    pins = json.loads((target / "PINNED.json").read_bytes())
    assert pins == {
        "source": "folder:@acp/sdk@3.0.0",
        "version": "3.0.0",
        "license": "MIT",
        "files": {
            file: {"sha256": sha256((target / file).read_bytes())} for file in ("v1/schema.json", "v2/schema.json")
        },
    }
    regenerate(target, tmp_path / "out")


def test_fetching_the_same_again_changes_nothing(target: Path, fetched: Fetched) -> None:
    before = tree(target)
    assert fetched(target, target)[:3] == [
        "unchanged LICENSE",
        "unchanged v1/schema.json",
        "unchanged v1/schema.unstable.json",
    ]
    assert tree(target) == before


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda target: (target / "v1/schema.unstable.json").write_text("{}"), "v1/schema.unstable.json would be kept"),
        (lambda target: (target / "PINNED.json").unlink(), "no PINNED.json"),
    ],
)
def test_a_schema_that_is_kept_has_to_match_its_pin(
    tmp_path: Path, target: Path, spoil: Callable[[Path], object], words: str
) -> None:
    release = read_folder(package(tmp_path / "package", {"v1/schema.json": NEW})).without("v1_unstable")
    assert prepare_fetch(release, target).lines[-1] == "kept      v1/schema.unstable.json"
    spoil(target)
    with pytest.raises(FetchError, match=words):
        prepare_fetch(release, target)


@pytest.mark.parametrize("inside", ["", "schema"])
def test_a_folder_can_be_a_package_or_its_schemas(tmp_path: Path, target: Path, fetched: Fetched, inside: str) -> None:
    source = package(tmp_path / "package", {"v1/schema.json": NEW})
    assert "changed   v1/schema.json" in fetched(source / inside, target)
    assert (target / "LICENSE").read_text("utf-8") == "the old licence"


def test_the_first_fetch_creates_the_folder(tmp_path: Path, fetched: Fetched) -> None:
    source = package(tmp_path / "package", {"v1/schema.json": NEW})
    assert "added     v1/schema.json" in fetched(source, tmp_path / "new/schema")
    assert set(tree(tmp_path / "new")) == {"schema", "schema/PINNED.json", "schema/v1", "schema/v1/schema.json"}


def test_no_path_of_this_machine_is_pinned(tmp_path: Path, target: Path, fetched: Fetched) -> None:
    fetched(write_schema(tmp_path / "other", NEW, "v1/schema.json"), target)
    assert str(tmp_path) not in (target / "PINNED.json").read_text("utf-8")


BAD: dict[str, tuple[str, Callable[[Path], object]]] = {
    "an empty source": ("The source is missing", lambda folder: ""),
    "a missing folder": ("gone is not a source", lambda folder: folder / "gone"),
    "an empty folder": ("There is no schema in folder:source", lambda folder: folder),
    "an invalid npm name": ("'../../evil' is not an npm package", lambda folder: "npm:../../evil"),
    "an option for npm": ("'--registry=x' is not an npm package", lambda folder: "npm:--registry=x"),
    "a page of HTML": ("It begins with b'<!doctype html>'", lambda folder: _file(folder, b"<!doctype html>")),
    "half a file": ("schema.json is not JSON", lambda folder: _file(folder, json.dumps(OLD).encode()[:-10])),
    "an empty file": ("begins with b''", lambda folder: _file(folder, b"")),
    "bytes that are not text": ("byte 1 is not UTF-8", lambda folder: _file(folder, b"\x1f\x8b\xff\x00")),
    "JSON that is not an object": ("schema.json is not an ACP schema", lambda folder: _file(folder, b"[]")),
    "an object that is not a schema": (
        "schema.json is not an ACP schema",
        lambda folder: _file(folder, b'{"name": "x"}'),
    ),
    "no messages": (
        "schema.json is not an ACP schema",
        lambda folder: _file(folder, json.dumps({**OLD, "anyOf": []}).encode()),
    ),
    "no definitions": (
        "schema.json is not an ACP schema",
        lambda folder: _file(folder, json.dumps({**OLD, "$defs": {}}).encode()),
    ),
    "one bad schema": (
        "v2/schema.json is not an ACP schema",
        lambda folder: package(folder, {"v1/schema.json": NEW, "v2/schema.json": {}}),
    ),
    "an unknown version": (
        "a schema without a profile, v3/schema.json",
        lambda folder: package(folder, {"v1/schema.json": NEW, "v3/schema.json": OLD}),
    ),
    "an invalid package.json": (
        "package.json doesn't describe a package",
        lambda folder: package(folder, {"v1/schema.json": NEW}, version=3),
    ),
}


@pytest.mark.parametrize(("words", "source"), BAD.values(), ids=BAD)
def test_an_invalid_source_gives_one_line_and_changes_nothing(
    tmp_path: Path, target: Path, refused: Refused, words: str, source: Callable[[Path], object]
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    assert words in refused(str(source(folder)), target)


def test_the_projects_own_folder_can_be_fetched_without_a_network(tmp_path: Path, fetched: Fetched) -> None:
    copy = tmp_path / "schema"
    shutil.copytree(SCHEMA, copy)
    *lines, _ = fetched(SCHEMA, copy)
    assert {line.split()[0] for line in lines} == {"unchanged"}


def _file(folder: Path, content: bytes) -> Path:
    (folder / "schema.json").write_bytes(content)
    return folder
