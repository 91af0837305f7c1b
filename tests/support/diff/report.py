"""What a report in JSON has to look like."""

from __future__ import annotations

import json
from pathlib import Path

from codegen.diff.render import machine

SCHEMA = json.loads(Path(machine.__file__).with_name("report.schema.json").read_text("utf-8"))
