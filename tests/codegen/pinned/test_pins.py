"""Pinned schemas: the generator stops at bytes that are not the pinned ones, or not JSON."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codegen.__main__ import ROOT, main
from codegen.errors import SchemaError
from codegen.pinned.pins import sha256
from codegen.regen import regenerate
from tests.support.codegen.build import STRING, acp_schema, model, tree, write_schema
from tests.support.codegen.pinning import FILE, pin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one schema, pinned."""
    result = write_schema(tmp_path / "schema", acp_schema({"Text": model(["text"], text=STRING)}), FILE)
    pin(result)
    return result


def stopped(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    output = folder.parent / "output"
    output.mkdir()
    assert main(["regen", "--schema", str(folder), "--output", str(output)]) == 2
    assert tree(output) == {}
    return capsys.readouterr().err


def test_a_package_of_pinned_bytes_records_their_source_and_hash(folder: Path) -> None:
    regenerate(folder, folder.parent / "output")
    text = (folder.parent / "output/acp_bindings/v1/__init__.py").read_text("utf-8")
    assert sha256((folder / FILE).read_bytes()) in text
    assert 'source="folder"' in text


def test_a_changed_byte_stops_the_generator(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / FILE).write_bytes((folder / FILE).read_bytes() + b"\n")
    error = stopped(folder, capsys)
    assert error.startswith(f"codegen: {FILE}#: The SHA-256 is ")


def test_a_file_that_is_not_pinned_stops_the_generator(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_schema(folder, acp_schema({}), "v2/schema.json")
    assert "v2/schema.json#: The file exists but is not pinned" in stopped(folder, capsys)


def test_a_missing_pinned_file_stops_the_generator(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pin(folder, files={FILE: {"sha256": "0"}, "v2/schema.json": {"sha256": "0"}})
    assert "v2/schema.json#: The file is pinned but missing" in stopped(folder, capsys)


def test_the_projects_own_schema_has_to_be_pinned(folder: Path) -> None:
    (folder / "PINNED.json").unlink()
    with pytest.raises(SchemaError, match=r"PINNED\.json"):
        regenerate(folder, folder.parent / "output", pinned=True)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"files": []}, "/files"),
        ({"files": {FILE: "abc"}}, "/files/v1~1schema.json"),
        ({"files": {FILE: {}}}, "/files/v1~1schema.json/sha256"),
        ({"files": {FILE: {"sha256": "0", "source": 1}}}, "/files/v1~1schema.json/source"),
        ({"source": None}, "/source"),
        ({"version": 2}, "/version"),
    ],
)
def test_malformed_pins_stop_the_generator(
    folder: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], pointer: str
) -> None:
    pin(folder, **changes)
    assert stopped(folder, capsys).startswith(f"codegen: PINNED.json#{pointer}: ")


def test_truncated_pins_stop_the_generator(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "PINNED.json").write_text('{"files": {', "utf-8")
    assert stopped(folder, capsys).startswith("codegen: PINNED.json#: Not JSON: ")


NOT_JSON = {
    "truncated": b'{"$defs": {"A": {"type": "obj',
    "a page of HTML": b"<!doctype html><html></html>",
    "empty": b"",
    "bytes that are not text": b"\xff\xfe\xfa",
    "a duplicate key": b'{"$defs": {"A": {}, "A": {"type": "string"}}}',
    "NaN": b'{"$defs": {"A": {"minimum": NaN}}}',
    "nested too deeply": b'{"$defs":' * 100_000,
}


@pytest.mark.parametrize("content", NOT_JSON.values(), ids=NOT_JSON)
def test_a_schema_that_is_not_json_stops_the_generator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    folder = write_schema(tmp_path / "schema", {}, FILE)
    (folder / FILE).write_bytes(content)
    assert stopped(folder, capsys).startswith(f"codegen: {FILE}#: Not JSON: ")


@pytest.mark.parametrize("content", [[], {}, {"$defs": []}, "text", None])
def test_json_that_is_not_a_schema_stops_the_generator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Any
) -> None:
    folder = write_schema(tmp_path / "schema", content, FILE)
    assert stopped(folder, capsys).startswith(f"codegen: {FILE}#: Not an ACP schema: ")


def test_a_folder_without_schemas_stops_the_generator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = stopped(tmp_path / "nothing", capsys)
    assert error == "codegen: There is no schema in nothing/. Fetch one with `make fetch FROM=npm:...`.\n"


def test_the_command_exits_with_2_and_one_line(folder: Path) -> None:
    (folder / FILE).write_bytes(b"{}")
    command = [sys.executable, "-m", "codegen", "regen", "--schema", str(folder), "--output", str(folder / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert not (folder / "out").exists()
