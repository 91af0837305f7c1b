"""A program that runs another one, and prints the file, line, text and category of every warning as JSON."""

from __future__ import annotations

import json
import runpy
import sys
import warnings
from typing import Any

_found: list[tuple[str, int, str, str]] = []


def _record(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    _found.append((filename, lineno, str(message), category.__name__))


warnings.simplefilter("always")
warnings.showwarning = _record
runpy.run_path(sys.argv[1], run_name="__main__")
sys.stdout.write(json.dumps(_found))
