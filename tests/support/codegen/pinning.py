"""Pins a schema that a test has written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from codegen.pinned.pins import sha256

FILE = "v1/schema.json"


def pin(folder: Path, **changes: Any) -> None:
    files = {FILE: {"sha256": sha256((folder / FILE).read_bytes())}}
    pins = {"source": "folder", "version": "1", "license": "Apache-2.0", "files": files, **changes}
    (folder / "PINNED.json").write_text(json.dumps(pins), "utf-8")
