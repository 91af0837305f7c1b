"""Fetching: what becomes of the pinned schemas, and that nothing does when a source is bad."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.__main__ import ROOT, SCHEMA, main
from codegen.pins import load, sha256
from codegen.regen import regenerate
from tests.codegen.build import STRING, Schema, acp_schema, model, tree, write_schema
from tests.codegen.npm import needs_npm

OLD = acp_schema({"Text": model(["text"], text=STRING)})
NEW = acp_schema({"Text": model(["text", "more"], text=STRING, more=STRING)})


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A pinned folder: a stable and an unstable schema of version 1, a licence and a file of someone else's."""
    folder = write_schema(tmp_path / "here/schema", OLD, "v1/schema.json")
    write_schema(folder, OLD, "v1/schema.unstable.json")
    (folder / "LICENSE").write_text("the old licence", "utf-8")
    (folder / "notes.md").write_text("kept", "utf-8")
    assert main(["fetch", str(folder), "--schema", str(folder)]) == 0
    return folder


def package(folder: Path, schemas: dict[str, Schema], **texts: Any) -> Path:
    """An unpacked package of npm with schemas."""
    for file, schema in schemas.items():
        write_schema(folder / "schema", schema, file)
    named = {"name": "@acp/sdk", "version": "3.0.0", "license": "MIT", **texts}
    (folder / "package.json").write_text(json.dumps(named), "utf-8")
    return folder


def fetched(source: object, target: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["fetch", str(source), "--schema", str(target)]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_package_takes_the_place_of_what_was_pinned(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = package(tmp_path / "package", {"v1/schema.json": NEW, "v2/schema.json": OLD})
    (source / "LICENSE").write_text("the new licence", "utf-8")
    assert fetched(source, target, capsys) == [
        "changed   LICENSE",
        "changed   v1/schema.json",
        "removed   v1/schema.unstable.json",
        "added     v2/schema.json",
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


def test_fetching_the_same_again_changes_nothing(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(target)
    assert fetched(target, target, capsys)[:3] == [
        "unchanged LICENSE",
        "unchanged v1/schema.json",
        "unchanged v1/schema.unstable.json",
    ]
    assert tree(target) == before


@pytest.mark.parametrize("inside", ["", "schema"])
def test_the_folder_may_be_the_package_or_its_schemas(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str], inside: str
) -> None:
    source = package(tmp_path / "package", {"v1/schema.json": NEW})
    assert "changed   v1/schema.json" in fetched(source / inside, target, capsys)
    assert (target / "LICENSE").read_text("utf-8") == "the old licence"


def test_a_release_without_stable_schemas_says_so(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = package(tmp_path / "package", {"schema.json": NEW, "v2/schema.unstable.json": OLD})
    lines = fetched(source, target, capsys)
    assert any("no v1/schema.json" in line and "no acp_bindings.v1." in line for line in lines)
    assert any("no v2/schema.json" in line for line in lines)
    assert any(line.startswith("schema.json is version 1 with its unstable methods") for line in lines)
    assert [each.profile.name for each in load(target, pinned=True)] == ["v1_unstable", "v2_draft_unstable"]


@pytest.mark.parametrize(
    ("path", "place"),
    [("v2/schema.json", "v2/schema.json"), ("downloads/acp.json", "schema.json"), ("schema.json", "schema.json")],
)
def test_one_file_goes_where_its_path_says(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str], path: str, place: str
) -> None:
    source = write_schema(tmp_path / "other", NEW, path) / path
    assert f"added     {place}" in fetched(source, target, capsys)
    assert list(json.loads((target / "PINNED.json").read_bytes())["files"]) == [place]


def test_a_first_fetch_makes_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = package(tmp_path / "package", {"v1/schema.json": NEW})
    assert "added     v1/schema.json" in fetched(source, tmp_path / "new/schema", capsys)
    assert set(tree(tmp_path / "new")) == {"schema", "schema/PINNED.json", "schema/v1", "schema/v1/schema.json"}


def test_no_path_of_this_machine_is_pinned(tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetched(write_schema(tmp_path / "other", NEW, "v1/schema.json"), target, capsys)
    assert str(tmp_path) not in (target / "PINNED.json").read_text("utf-8")


BAD: dict[str, Callable[[Path], object]] = {
    "nothing at all": lambda folder: "",
    "a folder that is not there": lambda folder: folder / "gone",
    "an empty folder": lambda folder: folder,
    "no npm name": lambda folder: "npm:../../evil",
    "an option for npm": lambda folder: "npm:--registry=x",
    "a page of HTML": lambda folder: _file(folder, b"<!doctype html>"),
    "half a file": lambda folder: _file(folder, json.dumps(OLD).encode()[:-10]),
    "an empty file": lambda folder: _file(folder, b""),
    "bytes": lambda folder: _file(folder, b"\x1f\x8b\xff\x00"),
    "JSON that is no object": lambda folder: _file(folder, b"[]"),
    "an object that is no schema": lambda folder: _file(folder, b'{"name": "x"}'),
    "a schema without messages": lambda folder: _file(folder, json.dumps({**OLD, "anyOf": []}).encode()),
    "a schema without definitions": lambda folder: _file(folder, json.dumps({**OLD, "$defs": {}}).encode()),
    "one bad schema among good ones": lambda folder: package(folder, {"v1/schema.json": NEW, "v2/schema.json": {}}),
    "a schema of a version nobody knows": lambda folder: package(
        folder, {"v1/schema.json": NEW, "v3/schema.json": OLD}
    ),
    "a package.json that is none": lambda folder: package(folder, {"v1/schema.json": NEW}, version=3),
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_a_bad_source_is_one_sentence_and_changes_nothing(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str], source: Callable[[Path], object]
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    refused(str(source(folder)), target, capsys)


def test_a_folder_that_cannot_be_written_keeps_what_it_has(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = package(tmp_path / "package", {"v1/schema.json": NEW, "v2/schema.json": NEW})
    written: list[Path] = []
    write = Path.write_bytes

    def full_disk(path: Path, content: bytes) -> int:
        written.append(path)
        if len(written) > 1:
            raise OSError(28, "No space left on device", path.name)
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    assert "No space left" in refused(str(source), target, capsys)


NpmDoes = Callable[[str], str]


@pytest.fixture
def npm_does(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> NpmDoes:
    """Fetch through an npm that is a Python script; gives the sentence about it. `other.tgz` is beside its folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    archived(tmp_path / "other.tgz", {"package/package.json": b'{"name": "@acp/other", "version": "9"}'})

    def run(script: str) -> str:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/npm").write_text(f"#!{sys.executable}\nimport sys\n{script}", "utf-8")
        (tmp_path / "bin/npm").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        return refused("npm:@acp/sdk@9", target, capsys)

    return run


NPM_FAILS = {
    "can't reach its registry": "sys.exit('npm error code ENOTFOUND')",
    "npm knows no @acp/sdk@9": "sys.exit('npm error code ETARGET')",
    "could not pack": "sys.exit('npm error code E500')",
    "0 archives": "pass",
    "can't be unpacked": "open('a.tgz', 'wb').write(b'no archive')",
    "the package '@acp/other'": "import shutil; shutil.copy('../other.tgz', 'a.tgz')",
}


@pytest.mark.parametrize(("words", "script"), NPM_FAILS.items(), ids=NPM_FAILS)
def test_what_npm_does_wrong_is_one_sentence(npm_does: NpmDoes, words: str, script: str) -> None:
    assert words in npm_does(script)


def test_a_machine_without_npm_is_told_so(
    tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "There is no npm" in refused("npm:@acp/sdk@9", target, capsys)


def test_an_archive_that_reaches_outside_is_refused(tmp_path: Path, npm_does: NpmDoes) -> None:
    archived(tmp_path / "evil.tgz", {"package/schema/../../../evil": b""})
    assert "can't be unpacked" in npm_does("import shutil; shutil.copy('../evil.tgz', 'a.tgz')")
    assert not (tmp_path / "evil").exists()


@needs_npm
def test_npm_brings_the_release_that_is_pinned_here(tmp_path: Path) -> None:
    target = tmp_path / "schema"
    version = json.loads((SCHEMA / "PINNED.json").read_bytes())["version"]
    source = f"npm:@agentclientprotocol/sdk@{version}"
    command = [sys.executable, "-m", "codegen", "fetch", source, "--schema", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    assert tree(target) == {name: each for name, each in tree(SCHEMA).items() if name != "README.md"}


@needs_npm
def test_a_version_that_npm_does_not_have_is_one_sentence(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "npm knows no" in refused("npm:@agentclientprotocol/sdk@999.0.0", target, capsys)


def refused(source: str, target: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Fetch what can't be fetched; gives the sentence."""
    before = tree(target.parent)
    capsys.readouterr()
    assert main(["fetch", source, "--schema", str(target)]) == 2
    captured = capsys.readouterr()
    assert tree(target.parent) == before
    assert captured.out == ""
    assert captured.err.startswith("codegen: ")
    assert captured.err.count("\n") == 1
    return captured.err


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "schema.json"
    path.write_bytes(content)
    return path


def archived(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def test_fetching_from_the_projects_own_folder_needs_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "schema"
    shutil.copytree(SCHEMA, copy)
    lines = fetched(SCHEMA, copy, capsys)
    assert {line.split()[0] for line in lines} == {"unchanged"}
