"""The floor of starting: import asyncio and pydantic, define one model, write a line."""

from __future__ import annotations

import asyncio
import sys

from pydantic import BaseModel


class Model(BaseModel):
    x: int


sys.stdout.write(f"{asyncio.__name__} and {Model.__name__} are imported\n")
sys.stdout.flush()
