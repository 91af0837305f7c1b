"""The floor of starting: imports asyncio and pydantic, defines one model, writes a line."""

from __future__ import annotations

import asyncio
import sys

from pydantic import BaseModel


class Model(BaseModel):
    x: int


sys.stdout.write(f"{asyncio.__name__} and {Model.__name__} are there\n")
sys.stdout.flush()
