"""Writes packages to fetch from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.codegen.build import STRING, Schema, acp_schema, model, write_schema

Fetched = Callable[[object, Path], list[str]]
Refused = Callable[[str, Path], str]
OLD = acp_schema({"Text": model(["text"], text=STRING)})
NEW = acp_schema({"Text": model(["text", "more"], text=STRING, more=STRING)})


def package(folder: Path, schemas: dict[str, Schema], **texts: Any) -> Path:
    """Write an unpacked npm package with schemas."""
    for file, schema in schemas.items():
        write_schema(folder / "schema", schema, file)
    named = {"name": "@acp/sdk", "version": "3.0.0", "license": "MIT", **texts}
    (folder / "package.json").write_text(json.dumps(named), "utf-8")
    return folder
