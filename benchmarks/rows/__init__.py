"""The rows, in the order of the table."""

from __future__ import annotations

from benchmarks.measuring import Row
from benchmarks.rows import requests, updates
from benchmarks.setup import Setup


def all_rows(setup: Setup) -> list[Row]:
    return [*updates.rows(setup), *requests.rows(setup)]
