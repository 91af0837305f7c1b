"""Schemas that a test has pinned, and packages to fetch others from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codegen.pinned.pins import sha256
from tests.support.codegen.build import STRING, Schema, acp_schema, model, write_schema

Fetched = Callable[[object, Path], list[str]]
Refused = Callable[[str, Path], str]
OLD = acp_schema({"Text": model(["text"], text=STRING)})
NEW = acp_schema({"Text": model(["text", "more"], text=STRING, more=STRING)})


FILE = "v1/schema.json"


def pin(folder: Path, **changes: Any) -> None:
    files = {FILE: {"sha256": sha256((folder / FILE).read_bytes())}}
    pins = {"source": "folder", "version": "1", "license": "Apache-2.0", "files": files, **changes}
    (folder / "PINNED.json").write_text(json.dumps(pins), "utf-8")


def package(folder: Path, schemas: dict[str, Schema], **texts: Any) -> Path:
    """Write an unpacked npm package with schemas."""
    for file, schema in schemas.items():
        write_schema(folder / "schema", schema, file)
    named = {"name": "@acp/sdk", "version": "3.0.0", "license": "MIT", **texts}
    (folder / "package.json").write_text(json.dumps(named), "utf-8")
    return folder
