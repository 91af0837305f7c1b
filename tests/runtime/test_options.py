"""Options with a wrong value are refused when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from acp_runtime import Options


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("high_water_messages", 0, "Options.high_water_messages must be at least 1, not 0."),
        ("max_message_bytes", "5", "Options.max_message_bytes must be an integer, not '5'."),
        ("max_message_bytes", True, "Options.max_message_bytes must be an integer, not True."),
        ("flood_factor", 1.5, "Options.flood_factor must be an integer, not 1.5."),
        ("eof_grace", -1, "Options.eof_grace must be at least 0, not -1."),
        ("eof_grace", None, "Options.eof_grace must be a number of seconds, not None."),
        ("exit_deadline", float("nan"), "Options.exit_deadline must be at least 0, not nan."),
        ("guards", "RAISE", "Options.guards must be 'raise', 'warn' or 'off', not 'RAISE'."),
        ("guards", None, "Options.guards must be 'raise', 'warn' or 'off', not None."),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        Options(**{name: value})
    assert str(caught.value) == message


def test_deadlines_may_be_zero_or_infinite() -> None:
    assert Options(eof_grace=0, exit_deadline=float("inf"), max_held_bytes=0).eof_grace == 0
