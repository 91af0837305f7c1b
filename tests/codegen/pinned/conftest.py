"""Fixtures of the tests of fetching: a folder of pinned schemas, and fetches that must succeed or be refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.__main__ import main
from tests.support.codegen.build import tree, write_schema
from tests.support.codegen.pinning import OLD, Fetched, Refused


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder with a stable and an unstable schema of version 1, both pinned, a licence and another file."""
    folder = write_schema(tmp_path / "here/schema", OLD, "v1/schema.json")
    write_schema(folder, OLD, "v1/schema.unstable.json")
    (folder / "LICENSE").write_text("the old licence", "utf-8")
    (folder / "notes.md").write_text("kept", "utf-8")
    assert main(["fetch", str(folder), "--schema", str(folder)]) == 0
    return folder


@pytest.fixture
def fetched(capsys: pytest.CaptureFixture[str]) -> Fetched:
    """Fetches into a folder, and returns the lines that were printed."""

    def fetch(source: object, target: Path) -> list[str]:
        capsys.readouterr()
        assert main(["fetch", str(source), "--schema", str(target)]) == 0
        return capsys.readouterr().out.splitlines()

    return fetch


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Fetches from an invalid source, which must change nothing, and returns the line on stderr."""

    def fetch(source: str, target: Path) -> str:
        before = tree(target.parent)
        capsys.readouterr()
        assert main(["fetch", source, "--schema", str(target)]) == 2
        captured = capsys.readouterr()
        assert tree(target.parent) == before
        assert captured.out == ""
        assert captured.err.startswith("codegen: ")
        assert captured.err.count("\n") == 1
        return captured.err

    return fetch
