"""What a client gains by the import alone: each case shows something else on the official connection.

The agent runs on the official connection in all of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.official.running import run_client

pytestmark = pytest.mark.test_all

_STDERR = "Last output on stderr:\nfatal: no API key"
# For each case, what is shown on the official connection, and on ours.
CASES: dict[str, tuple[Any, Any]] = {
    "order": (["1", "2", "3", "4", "0"], ["0", "1", "2", "3", "4"]),
    "early": ([True], [False]),
    "stderr": ("hangs", "end_turn"),
    "abandoned": (["waiting"], ["waiting", "cancel s"]),
    "permission": (["asked", "cancel s"], ["asked", "cancel s", "answered cancelled"]),
    "exit": ("Connection closed", f"Connection closed: The peer closed the connection. Exit code: 3. {_STDERR}"),
    "child": ("lives on", "ended"),
}


@pytest.mark.parametrize("case", CASES)
def test_our_connection_does_what_the_official_one_does_not(case: str) -> None:
    official, ours = CASES[case]
    assert run_client("official", "official", case) == official
    assert run_client("ours", "official", case) == ours
