"""An agent with two versions in a real process: rules 6, 22 and 24 hold before `initialize`, too."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from tests.support.programs import Program
from tests.support.runtime.peer import line
from tests.support.runtime.stdio import OPENING

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors and signals of POSIX"),
]
EARLY = line({"id": 5, "method": "session/new", "params": {}})


def start() -> Program:
    return Program("-m", "tests.runtime.transports.versioned_agent")


@pytest.mark.parametrize(("number", "opened"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_rule_24_signals_end_the_agent_cleanly(number: signal.Signals, opened: bool) -> None:
    process = start()
    process.send(OPENING if opened else EARLY)
    assert process.receive()["id"] == (0 if opened else 5)
    process.send_signal(number)
    out, err = process.communicate(timeout=100)
    assert process.returncode in (0, -number, 128 + number)
    assert out == b""
    assert b"Traceback" not in err


@pytest.mark.parametrize("sent", [b"", EARLY, OPENING])
def test_rule_24_the_agent_exits_with_0_at_eof(sent: bytes) -> None:
    process = start()
    out, err = process.communicate(sent, timeout=100)
    assert process.returncode == 0
    assert len(out.splitlines()) == bool(sent)
    assert b"Traceback" not in err


def test_a_script_piped_in_whole_is_answered_in_the_version_it_asks_for() -> None:
    process = start()
    info = {"name": "c", "version": "1"}
    opening = line({"id": 0, "method": "initialize", "params": {"protocolVersion": 2, "info": info}})
    create = line({"id": 1, "method": "session/new", "params": {"cwd": "/"}})
    out, _ = process.communicate(EARLY + opening + create, timeout=100)
    answers = [json.loads(written) for written in out.splitlines()]
    assert [answer["id"] for answer in answers] == [5, 0, 1]
    assert answers[1]["result"]["protocolVersion"] == 2
    assert answers[2]["result"] == {"sessionId": "s1"}
