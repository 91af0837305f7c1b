"""All rows, in the order of the table."""

from __future__ import annotations

from benchmarks.measuring import Row
from benchmarks.rows import connections, kit, large_lines, remote, requests, startup, updates
from benchmarks.setup import Setup


def all_rows(setup: Setup) -> list[Row]:
    kinds = (updates, requests, startup, large_lines, connections, remote, kit)
    return [row for kind in kinds for row in kind.rows(setup)]
