"""The JSON schema of reports in JSON."""

from __future__ import annotations

import json
from pathlib import Path

from codegen.diff.render import json as json_format

SCHEMA = json.loads(Path(json_format.__file__).with_name("report.schema.json").read_text("utf-8"))
