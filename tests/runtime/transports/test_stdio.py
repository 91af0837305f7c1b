"""Rules 6 and 24: an agent in a real process, driven with raw bytes on stdin and stdout."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.programs import run_program
from tests.support.runtime.peer import line, prompt
from tests.support.runtime.stdio import OPENING, start
from tests.support.scale import sample
from tools.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors and signals of POSIX"),
]


def test_rule_6_stray_output_goes_to_stderr_and_children_cannot_read_stdin() -> None:
    process = start("before it serves")
    process.send(OPENING)
    assert process.receive()["id"] == 0
    assert process.stderr.read(100) == b"before it serves"
    process.send(prompt(1, text="print"))
    assert process.receive()["method"] == "session/update"
    assert process.receive()["id"] == 1
    out, err = process.communicate(timeout=100)
    assert out == b""
    for text in (b"from print", b"from os.write", b"from a child", b"''"):
        assert text in err
    assert process.returncode == 0


SERVES = """
import asyncio, sys
from acp_bindings.v1 import serve_stdio
from tests.support.runtime.obedient_agent import ObedientAgent
{before}
asyncio.run(serve_stdio(ObedientAgent))
"""

TAKES_OVER = """
import asyncio, os, sys
from acp_runtime.transports.stdio import take_over_stdio

async def main():
    asyncio.get_running_loop().add_reader(0, print)  # so that the event loop has opened what it needs
    asyncio.get_running_loop().remove_reader(0)
    before = os.listdir("/proc/self/fd")
    with take_over_stdio() as (_, writer):
        print("from print")
        assert os.read(0, 100) == b""
        os.write(1, b"from os.write\\n")
        writer.write(b"message\\n")
    assert os.listdir("/proc/self/fd") == before
    print(sys.stdin.read())

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="lists descriptors in /proc")
def test_rule_6_stdin_and_stdout_are_given_back_and_no_descriptor_is_left() -> None:
    done = run_program("-W", "error", "-c", TAKES_OVER, input=b"rest of stdin")
    assert done == (0, b"message\nrest of stdin\n", b"from os.write\nfrom print\n")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_rule_6_an_agent_may_have_closed_sys_stdout_or_sys_stderr(stream: str) -> None:
    done = run_program("-c", SERVES.format(before=f"sys.{stream}.close()"), input=OPENING)
    assert (done[0], json.loads(done[1])["id"], done[2]) == (0, 0, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the flags of descriptors in /proc")
def test_rule_6_the_pipes_of_a_running_agent_are_blocking() -> None:
    process = start()
    process.send(OPENING)
    process.receive()
    folder = Path(f"/proc/{process.pid}")
    pipes = [
        descriptor.name for descriptor in folder.joinpath("fd").iterdir() if os.readlink(descriptor).startswith("pipe:")
    ]
    assert pipes
    for name in pipes:
        flags = int(folder.joinpath("fdinfo", name).read_text().split("flags:")[1].split()[0], 8)
        assert not flags & os.O_NONBLOCK, name
    process.communicate(timeout=100)


def test_rule_6_stdin_and_stdout_may_be_one_socket() -> None:
    ours, theirs = socket.socketpair()
    process = start(stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
    theirs.close()
    ours.settimeout(100)
    with ours, ours.makefile("rwb") as stream:
        stream.write(OPENING + line({"id": 1, "method": "_large", "params": 2_000_000}))
        stream.flush()
        assert json.loads(stream.readline())["id"] == 0
        assert len(json.loads(stream.readline())["result"]) == 2_000_000
        assert ours.getblocking()
        ours.shutdown(socket.SHUT_WR)
        assert stream.readline() == b""
    assert process.wait(100) == 0


def test_rule_6_stdin_and_stdout_may_be_regular_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(OPENING + line({"id": 1, "method": "_echo"}).strip())
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        process = start(stdin=stdin, stdout=stdout)
        _, err = process.communicate(timeout=100)
    responses = [json.loads(written) for written in (tmp_path / "out").read_bytes().splitlines()]
    assert [response["id"] for response in responses] == [0, 1], err
    assert process.returncode == 0


def test_rule_6_stdin_and_stdout_may_be_dev_null() -> None:
    process = start(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    process.communicate(timeout=100)
    assert process.returncode == 0


@pytest.mark.stress
@pytest.mark.parametrize("closed", ["2", "1", *sample(["0,1,2", "0", "0,1", "0,2", "1,2"], 1)])
def test_rule_6_closed_standard_descriptors_never_hang_the_agent(closed: str) -> None:
    command = "exec " + " ".join(f"{fd}>&-" for fd in closed.split(",")) + ' "$@"'
    agent = [sys.executable, "-m", "tests.support.runtime.obedient_agent", "before it serves"]
    arguments = ["/bin/sh", "-c", command, "sh", *agent]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    # Text printed before serving has to stay in Python's buffer, otherwise it is on the wire.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(arguments, cwd=ROOT, env=env, **pipes)
    try:
        out, _ = process.communicate(OPENING + line(prompt(1, text="print")), timeout=100)
    except BrokenPipeError:
        out = b""
    if closed == "2":
        messages = [json.loads(written) for written in out.splitlines()]
        assert {message["id"] for message in messages if "id" in message} == {0, 1}
    assert process.wait(100) == 0


def test_rule_6_a_broken_stdout_never_hangs_the_agent() -> None:
    process = start()
    process.send(OPENING)
    process.receive()
    process.stdout.close()
    process.send(prompt(1, text="update hello"))
    assert process.wait(100) == 0
    process.stderr.close()
    process.stdin.close()


def test_rule_24_a_handler_that_ignores_its_cancellation_does_not_keep_the_process_alive() -> None:
    process = start()
    process.send(OPENING)
    process.receive()
    process.send(prompt(1, text="ignore_cancellations"))
    process.receive()
    _, err = process.communicate(timeout=100)
    assert process.returncode == 0
    assert b"A handler did not end when it was cancelled" in err
