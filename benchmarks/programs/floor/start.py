"""The floor of starting: imports asyncio and pydantic, defines one model, writes a line."""

from __future__ import annotations

import asyncio  # noqa: F401 - what an agent imports
import sys

from pydantic import BaseModel


class Model(BaseModel):
    x: int


sys.stdout.write("started\n")
sys.stdout.flush()
