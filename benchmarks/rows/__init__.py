"""All rows, in the order of the table."""

from __future__ import annotations

from benchmarks.measuring import Row
from benchmarks.rows import (
    connections,
    generator,
    kit,
    large_lines,
    remote,
    requests,
    session_state,
    startup,
    tap,
    updates,
)
from benchmarks.setup import Setup


def all_rows(setup: Setup) -> list[Row]:
    kinds = (updates, requests, startup, large_lines, connections, remote, kit, tap, session_state, generator)
    return [row for kind in kinds for row in kind.rows(setup)]
