"""Hostile clients: our agent in a real process answers requests, ends, and sends nothing but messages."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from acp_runtime.options import DEFAULT_OPTIONS
from tests.support.async_tests import no_leaks
from tests.support.forked import Forked
from tests.support.runtime.peer import INITIALIZE, line
from tests.support.stress.our_agent import PRINTED

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors and signals of POSIX"),
    pytest.mark.usefixtures("fork_server"),
]

OPENING = line({"id": 0, "method": "initialize", "params": INITIALIZE})
FLOOD, ERRORS = 5000, 1000
# A line for each message of a flood would be more.
LITTLE = 32 * 1024
MEBIBYTE = 1024 * 1024
DEADLINE = 100


def prompt(id: Any, text: str, session: str = "s1") -> bytes:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return line({"id": id, "method": "session/prompt", "params": params})


@contextmanager
def agent(**streams: Any) -> Iterator[Forked]:
    """Run the agent, with pipes unless `streams` says otherwise. Kill it and close the pipes after the block."""
    with no_leaks():
        process = Forked("-m", "tests.support.stress.our_agent", **streams)
        try:
            yield process
        finally:
            process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None and not stream.closed:
                    _close(stream)
            process.wait(DEADLINE)


def _close(stream: Any) -> None:
    with suppress(BrokenPipeError):
        stream.close()


def talk(process: Forked, *lines: bytes) -> tuple[list[Any], bytes]:
    """Send lines and EOF. Return the received messages, and the output on stderr."""
    out, err = process.communicate(b"".join(lines), timeout=DEADLINE)
    return [json.loads(each) for each in out.splitlines()], err


def open_connection(process: Forked) -> None:
    """Initialize, and wait for the response, because nothing else may be sent before it (rule 25)."""
    send(process, OPENING)
    assert "result" in receive(process)


def send(process: Forked, *lines: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(lines))
    process.stdin.flush()


def receive(process: Forked, count: int = 1) -> Any:
    """Receive `count` messages, and return the last one."""
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(count)][-1]


def start_turn(process: Forked, text: str) -> None:
    open_connection(process)
    send(process, prompt(1, text))
    assert receive(process)["method"] == "session/update"


def test_the_agent_exits_with_0_if_stdin_is_empty() -> None:
    with agent() as process:
        messages, err = talk(process)
        assert (process.returncode, messages, err) == (0, [], b"")


@pytest.mark.parametrize("rest", [b'{"jsonrpc":"2.0","id":1,"meth', b"\xff", b"{", b"\n\n  ", b"\xef\xbb\xbf"])
def test_the_agent_exits_with_0_at_eof_within_a_line(rest: bytes) -> None:
    with agent() as process:
        open_connection(process)
        messages, err = talk(process, rest)
        assert process.returncode == 0
        assert b"Traceback" not in err
        errors = [message["error"]["code"] for message in messages]
        assert errors == ([-32700] if rest.strip(b"\n \xef\xbb\xbf") else [])


def test_eof_during_turns_cancels_them_and_they_are_answered() -> None:
    with agent() as process:
        start_turn(process, "wait")
        send(process, *(prompt(number, "wait", f"s{number}") for number in range(2, 50)))
        messages, err = talk(process)
        assert process.returncode == 0
        assert err.decode().split() == ["cancelled"] * 49
        ends = [message["id"] for message in messages if "method" not in message]
        assert sorted(ends) == list(range(1, 50))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("text", ["wait", "ignore_one_cancellation", "stream 100000000"])
def test_a_signal_during_a_turn_ends_the_agent(number: signal.Signals, text: str) -> None:
    with agent() as process:
        start_turn(process, text)
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)
        assert process.returncode in (0, -number, 128 + number)
        assert b"Traceback" not in err
        ends = [message for message in map(json.loads, out.splitlines()) if "method" not in message]
        assert len(ends) == (0 if text == "ignore_one_cancellation" else 1)


def test_many_signals_end_the_agent_like_one() -> None:
    with agent() as process:
        start_turn(process, "wait")
        for _ in range(20):
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) in (0, -signal.SIGTERM, -signal.SIGINT, 130, 143)


def test_the_agent_ends_when_its_stdout_is_closed_during_a_stream() -> None:
    with agent() as process:
        start_turn(process, "stream 100000000")
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(DEADLINE) == 0
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_the_agent_ends_when_a_client_that_never_reads_closes_stdin() -> None:
    with agent() as process:
        start_turn(process, "stream 100000000")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(DEADLINE) == 0


def test_the_agent_answers_even_if_its_stderr_is_closed() -> None:
    with agent() as process:
        assert process.stderr is not None
        process.stderr.close()
        open_connection(process)
        send(process, *(b"garbage %d\n" % number for number in range(100)), prompt(1, "fail"), prompt(2, "stream 1"))
        out, _ = process.communicate(timeout=DEADLINE)
        messages = [json.loads(each) for each in out.splitlines()]
        assert {message["id"] for message in messages if "id" in message} == {None, 1, 2}
        # 120: Python could not flush its own stderr at exit.
        assert process.returncode in (0, 120)


def test_stdout_has_only_messages_while_threads_and_children_print() -> None:
    with agent() as process:
        open_connection(process)
        messages, err = talk(process, prompt(1, "make_noise"))
        assert process.returncode == 0, err
        texts = [each["params"]["update"]["content"]["text"] for each in messages if "method" in each]
        assert texts == [str(number) for number in range(500)]
        assert [each["id"] for each in messages if "id" in each] == [1], err
        assert "result" in messages[-1], messages[-1]
    counts = {text: err.count(text) for text in (b"print", b"flushed", b"write", b"child")}
    assert counts == {b"print": 3 * PRINTED, b"flushed": 3 * PRINTED, b"write": 3 * PRINTED, b"child": 2 * PRINTED}


def test_a_child_that_outlives_the_agent_does_not_keep_stdout_open() -> None:
    with agent() as process:
        open_connection(process)
        messages, err = talk(process, prompt(1, "leave_a_child"))
        assert [message["id"] for message in messages] == [1]
        assert b"late" in err


def test_stdin_and_stdout_can_be_regular_files(tmp_path: Path) -> None:
    lines = (line({"id": number, "method": "_echo", "params": number}) for number in range(1, 2001))
    (tmp_path / "in").write_bytes(b"".join((OPENING, *lines)))
    with (
        (tmp_path / "in").open("rb") as stdin,
        (tmp_path / "out").open("wb") as stdout,
        agent(stdin=stdin, stdout=stdout) as process,
    ):
        assert process.wait(DEADLINE) == 0
    messages = [json.loads(each) for each in (tmp_path / "out").read_bytes().splitlines()]
    assert sorted(each["id"] for each in messages if "id" in each) == list(range(2001))
    assert all(each["result"] == each["id"] for each in messages if each["id"])


@pytest.mark.parametrize("streams", [("stdin",), ("stdout",), ("stdin", "stdout", "stderr")])
def test_stdin_and_stdout_can_be_dev_null(streams: tuple[str, ...]) -> None:
    with agent(**dict.fromkeys(streams, subprocess.DEVNULL)) as process:
        process.communicate(b"" if "stdin" in streams else OPENING, timeout=DEADLINE)
        assert process.returncode == 0


def test_stdin_and_stdout_can_be_one_socket_that_is_full_in_both_directions() -> None:
    ours, theirs = socket.socketpair()
    with ours, agent(stdin=theirs, stdout=theirs) as process:
        theirs.close()
        ours.settimeout(DEADLINE)
        count = 3000
        data = b"".join((OPENING, *(line({"id": n, "method": "_echo", "params": "x" * 500}) for n in range(1, count))))
        received = b""
        ours.setblocking(False)
        while received.count(b'"id":') < count:
            readable, writable, _ = select.select([ours], [ours] if data else [], [], DEADLINE)
            assert readable or writable, "a deadlock"
            if writable:
                data = data[ours.send(data) :]
            if readable:
                received += ours.recv(65536)
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(DEADLINE) == 0
    messages = [json.loads(each) for each in received.splitlines()]
    assert sorted(each["id"] for each in messages if "id" in each) == list(range(count))


def test_pipes_that_other_processes_share_stay_blocking() -> None:
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    try:
        with agent(stdin=their_in, stdout=their_out) as process:
            for message in (OPENING, prompt(1, "wait")):
                os.write(our_out, message)
                while not os.read(our_in, 65536).endswith(b"\n"):
                    pass
            assert [os.get_blocking(fd) for fd in (their_in, their_out)] == [True, True]
            process.send_signal(signal.SIGTERM)
            assert process.wait(DEADLINE) == 0
        assert [os.get_blocking(fd) for fd in (their_in, their_out)] == [True, True]
    finally:
        for fd in (their_in, our_out, our_in, their_out):
            os.close(fd)


@pytest.mark.parametrize(
    "sent",
    [
        line({"method": "craft/unknown", "params": {"secret": "hunter2"}}),
        line({"method": "session/cancel", "params": {"secret": "hunter2"}}),
        line({"method": "_fail\x1b[31m", "params": {"secret": "hunter2"}}),
        line({"id": 77, "result": {"secret": "hunter2"}}),
        line({"method": "session/prompt", "params": {"secret": "hunter2"}}),
    ],
    ids=["unknown", "invalid", "handler fails", "unexpected response", "request without id"],
)
def test_a_flood_of_ignored_messages_writes_little_to_stderr(sent: bytes) -> None:
    with agent() as process:
        open_connection(process)
        messages, err = talk(process, *([sent] * FLOOD), prompt(1, "stream 1"))
        assert [message.get("id") for message in messages] == [None, 1]
        assert messages[0]["method"] == "session/update"
        assert process.returncode == 0
    assert len(err) < LITTLE
    assert b"hunter2" not in err
    assert b"\x1b" not in err


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"garbage \x1b[31m\n", -32700),
        (b"[]\n", -32600),
        (line({"id": 5, "method": "craft/unknown"}), -32601),
        (line({"id": 5, "method": "session/prompt"}), -32602),
        (prompt(5, "fail"), -32603),
    ],
    ids=["garbage", "not a message", "unknown", "invalid", "handler fails"],
)
def test_each_message_in_a_flood_of_errors_is_answered_and_little_is_written_to_stderr(sent: bytes, code: int) -> None:
    with agent() as process:
        open_connection(process)
        messages, err = talk(process, *([sent] * ERRORS), prompt(1, "stream 1"))
        codes = [message["error"]["code"] for message in messages if "error" in message]
        assert codes == [code] * ERRORS
        assert messages[-1]["id"] == 1 or code == -32603
        assert process.returncode == 0
    assert len(err) < LITTLE
    assert b"\x1b" not in err


def test_a_client_that_sends_one_byte_at_a_time_is_answered() -> None:
    with agent() as process:
        for message in (OPENING, prompt(1, "stream 1")):
            for byte in message:
                send(process, bytes([byte]))
            assert receive(process)["jsonrpc"] == "2.0"
        messages, _ = talk(process)
        assert [message.get("id") for message in messages] == [1]


def test_a_line_over_the_limit_ends_the_agent() -> None:
    with agent() as process:
        open_connection(process)
        with pytest.raises(BrokenPipeError):
            for _ in range(2 * DEFAULT_OPTIONS.max_message_bytes // MEBIBYTE):
                send(process, b"x" * MEBIBYTE)
        assert process.wait(DEADLINE) == 0
