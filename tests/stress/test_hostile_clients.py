"""Hostile clients: our agent in a real process answers requests, ends, and sends nothing but messages."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.support.async_tests import no_leaks
from tests.support.programs import Program
from tests.support.runtime.peer import line, prompt
from tests.support.runtime.stdio import OPENING, start

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors and signals of POSIX"),
]

DEADLINE = 100


@contextmanager
def agent() -> Iterator[Program]:
    """Run the agent with an open connection. Kill it and close the pipes after the block."""
    with no_leaks():
        process = start()
        try:
            process.send(OPENING)
            assert "result" in process.receive()
            yield process
        finally:
            process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                with suppress(BrokenPipeError):
                    stream.close()
            process.wait(DEADLINE)


def talk(process: Program, *lines: bytes) -> tuple[list[Any], bytes]:
    """Send lines and EOF. Return the received messages, and the output on stderr."""
    out, err = process.communicate(b"".join(lines), timeout=DEADLINE)
    return [json.loads(line) for line in out.splitlines()], err


def start_turn(process: Program, text: str) -> None:
    process.send(prompt(1, text=text))
    assert process.receive()["method"] == "session/update"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("wait", signal.SIGINT),
        ("ignore_one_cancellation", signal.SIGTERM),
        ("stream 100000000", signal.SIGINT),
        ("stream 100000000", signal.SIGTERM),
    ],
)
def test_a_signal_during_a_turn_ends_the_agent(number: signal.Signals, text: str) -> None:
    with agent() as process:
        start_turn(process, text)
        process.send_signal(number)
        messages, err = talk(process)
        assert process.returncode in (0, -number, 128 + number)
        assert b"Traceback" not in err
        ends = [message for message in messages if "method" not in message]
        assert len(ends) == 1


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_the_agent_ends_when_a_pipe_is_closed_during_a_stream_that_nobody_reads(stream: str) -> None:
    with agent() as process:
        start_turn(process, "stream 100000000")
        getattr(process, stream).close()
        assert process.wait(DEADLINE) == 0
        assert b"Traceback" not in process.stderr.read()


def test_a_child_that_outlives_the_agent_does_not_keep_stdout_open() -> None:
    with agent() as process:
        messages, err = talk(process, line(prompt(1, text="leave_a_child")))
        assert [message["id"] for message in messages] == [1]
        assert b"late" in err
