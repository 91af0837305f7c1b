"""Writes packages to fetch from, and runs fetches that must succeed or be refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codegen.__main__ import main
from tests.support.codegen.build import STRING, Schema, acp_schema, model, tree, write_schema

OLD = acp_schema({"Text": model(["text"], text=STRING)})
NEW = acp_schema({"Text": model(["text", "more"], text=STRING, more=STRING)})


def package(folder: Path, schemas: dict[str, Schema], **texts: Any) -> Path:
    """Write an unpacked npm package with schemas."""
    for file, schema in schemas.items():
        write_schema(folder / "schema", schema, file)
    named = {"name": "@acp/sdk", "version": "3.0.0", "license": "MIT", **texts}
    (folder / "package.json").write_text(json.dumps(named), "utf-8")
    return folder


def fetched(source: object, target: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Fetch, and return the lines that were printed."""
    capsys.readouterr()
    assert main(["fetch", str(source), "--schema", str(target)]) == 0
    return capsys.readouterr().out.splitlines()


def refused(source: str, target: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Fetch from an invalid source, which must change nothing, and return the line on stderr."""
    before = tree(target.parent)
    capsys.readouterr()
    assert main(["fetch", source, "--schema", str(target)]) == 2
    captured = capsys.readouterr()
    assert tree(target.parent) == before
    assert captured.out == ""
    assert captured.err.startswith("codegen: ")
    assert captured.err.count("\n") == 1
    return captured.err
