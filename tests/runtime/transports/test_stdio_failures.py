"""Rule 24: how broken output and signals end an agent on stdio, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import tty
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import Program
from tests.support.runtime.peer import prompt
from tests.support.runtime.stdio import OPENING, start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors and signals of POSIX"),
]

IMPORTS = """
import asyncio, os, signal, sys, time
from acp_bindings.v1 import serve_stdio
from tests.support.runtime.obedient_agent import ObedientAgent
"""


def scripted(code: str, *arguments: str, **streams: Any) -> Program:
    return Program("-c", IMPORTS + textwrap.dedent(code), *arguments, **streams)


@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_rule_24_the_agent_exits_with_0_when_stdout_breaks_while_bytes_are_buffered(size: int) -> None:
    process = start()
    process.send(OPENING)
    process.receive()
    process.send({"id": 1, "method": "_large", "params": size})
    assert process.stdout.read(1) == b"{"
    process.stdout.close()
    assert process.wait(100) == 0
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.stdin.close()


def assert_ended_by_its_output(process: Program, reason: bytes) -> None:
    """Assert that a process ended although its stdin is open, with a line on stderr that says why."""
    assert process.wait(100) == 1
    err = process.stderr.read()
    assert reason in err
    assert b"stdout" in err
    assert b"Traceback" not in err
    process.stdin.close()
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full exists only on Linux")
def test_rule_24_the_agent_exits_with_1_if_stdout_is_a_full_device() -> None:
    with Path("/dev/full").open("wb") as full:
        process = start(stdout=full)
    process.send(OPENING)
    assert_ended_by_its_output(process, b"No space left on device")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full exists only on Linux")
def test_rule_24_the_agent_exits_with_1_even_if_stdin_has_ended() -> None:
    with Path("/dev/full").open("wb") as full:
        process = start(stdout=full)
    _, err = process.communicate(OPENING, timeout=100)
    assert (process.returncode, b"No space left" in err) == (1, True)


def test_rule_24_signal_handlers_are_restored_after_a_signal_has_ended_the_agent() -> None:
    process = scripted(
        """
        signal.signal(signal.SIGTERM, lambda *_: print("own handler", file=sys.stderr))
        asyncio.run(serve_stdio(ObedientAgent))
        os.kill(os.getpid(), signal.SIGTERM)
        """
    )
    process.send(OPENING)
    process.receive()
    process.terminate()
    _, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (0, b"own handler\n")


def test_rule_24_a_second_signal_abandons_a_handler_that_does_not_end() -> None:
    process = scripted(
        """
        from acp_runtime import Options
        class Slow(ObedientAgent):
            async def session_prompt(self, request):
                await super().session_prompt(request)
                while True:
                    try:
                        await asyncio.Event().wait()
                    except asyncio.CancelledError:
                        os.write(2, b"cancelled\\n")
        asyncio.run(serve_stdio(Slow, options=Options(eof_grace=0.1, handler_deadline=100)))
        """
    )
    process.send(OPENING)
    process.receive()
    process.send(prompt(1, text="update hello"))
    process.receive()
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == b"cancelled\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=100)
    assert process.returncode == 0


def test_rule_24_ctrl_c_ends_an_agent_whose_handler_blocks_the_event_loop() -> None:
    process = scripted(
        """
        class Blocking(ObedientAgent):
            async def session_prompt(self, request):
                os.write(2, b"blocked\\n")
                while True:
                    time.sleep(1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        asyncio.run(serve_stdio(Blocking))
        """
    )
    process.send(OPENING)
    process.receive()
    process.send(prompt(1, text="update hello"))
    assert process.stderr.readline() == b"blocked\n"
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    process.communicate(timeout=100)


@pytest.mark.parametrize("before", ["", "sys.stderr.close()"])
def test_rule_30_stdin_and_stdout_may_be_a_terminal_with_a_note_on_stderr(before: str) -> None:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    process = scripted(f"{before}\nasyncio.run(serve_stdio(ObedientAgent))", stdin=theirs, stdout=theirs)
    os.close(theirs)
    try:
        os.write(ours, OPENING)
        response = b""
        while b'"result"' not in response or not response.endswith(b"\n"):
            response += os.read(ours, 65536)
        process.terminate()
        _, err = process.communicate(timeout=100)
    finally:
        os.close(ours)
    assert json.loads(response.splitlines()[-1])["id"] == 0, err
    assert err.startswith(b"" if before else b"Waiting for an ACP client on stdin. It is a terminal: ")
    assert err.count(b"\n") == (0 if before else 1)
    assert process.returncode == 0
