"""Rule 23: the stderr of a spawned agent is always read and forwarded as the options say, and its tail is kept."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from acp_runtime import ConnectionClosed, Options
from acp_runtime.transports.stderr import StderrCopy
from tests.runtime.transports.processes import opened, script, spawned
from tests.support.programs import Program
from tools.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors of POSIX"),
]

SAYS_HELLO = "import sys; sys.stderr.write('hello\\n'); sys.exit(1)"

# A client whose agent writes a given amount to stderr before it answers.
CLIENT = """
import asyncio, os, sys
from acp_bindings.v1 import spawn_agent
from acp_runtime import Options
from tests.support.runtime.peer import PlainClient
AGENT = '''
import json, os, sys
id = json.loads(sys.stdin.readline())["id"]
text, size = sys.argv[1].encode() + b"\\\\n", int(sys.argv[2])
for _ in range(size // len(text)):
    os.write(2, text)
print(json.dumps({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": 1, "agentCapabilities": {}}}), flush=True)
sys.stdin.read()
'''
async def main():
    async with spawn_agent(PlainClient, sys.executable, "-S", "-c", AGENT, *sys.argv[1:3]) as agent:
        await agent.initialize(protocol_version=1)
        os.write(1, b"answered\\n")
asyncio.run(main())
"""


def client(text: str, size: int, before: str = "pass") -> Program:
    return Program("-c", before + CLIENT, text, str(size))


async def test_rule_23_stderr_is_always_read() -> None:
    async with spawned("noisy", stderr_tail=100, stderr="capture") as agent:
        await opened(agent)
        assert (await agent.session_prompt(session_id="s1", prompt=[])).stop_reason == "end_turn"


@pytest.mark.parametrize(("size", "tail"), [(0, ""), (3, "lo\n"), (6, "hello\n"), (100, "hello\n")])
async def test_rule_23_only_the_tail_of_stderr_is_kept(size: int, tail: str) -> None:
    async with script(SAYS_HELLO, stderr_tail=size, stderr="capture") as agent:
        with pytest.raises(ConnectionClosed) as caught:
            await agent.initialize(protocol_version=1)
    assert caught.value.stderr == tail


async def test_rule_23_stderr_can_go_to_a_callable_or_a_file(tmp_path: Path) -> None:
    chunks: list[bytes] = []
    for sink in (chunks.append, tmp_path / "log", tmp_path / "log"):
        async with script(SAYS_HELLO, stderr=sink) as agent:
            with pytest.raises(ConnectionClosed, match="hello"):
                await agent.initialize(protocol_version=1)
            assert b"".join(chunks) == b"hello\n"
    assert (tmp_path / "log").read_bytes() == b"hello\nhello\n"


@pytest.mark.parametrize("name", ["no-such-folder/log", "pipe without a reader"])
async def test_rule_23_nothing_starts_if_the_file_for_stderr_cannot_be_opened(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe without a reader")
    with pytest.raises(OSError, match=name):
        async with script(f"open({str(tmp_path / 'started')!r}, 'w')", stderr=tmp_path / name):
            pass
    assert not (tmp_path / "started").exists()


@pytest.mark.slow
def test_rule_23_stderr_is_forwarded_completely_by_default() -> None:
    assert Options().stderr == "inherit"
    process = client("twenty characters...", 2_100_000)
    out, err = process.communicate(timeout=60)
    assert out == b"answered\n"
    assert err == b"twenty characters...\n" * 100_000


async def test_rule_23_a_blocking_callable_for_stderr_blocks_only_stderr() -> None:
    taken = threading.Event()
    async with spawned("dying", stderr=lambda _: taken.wait(60)) as agent:
        await opened(agent)
        with pytest.raises(ConnectionClosed, match="last words") as caught:
            await agent.session_prompt(session_id="s1", prompt=[])
    taken.set()
    for thread in threading.enumerate():
        if thread.name == "acp-stderr":
            thread.join(60)
    assert caught.value.exit_code == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    [
        "import sys; sys.stderr.close()",
        "import os, sys; os.close(2)",
        "import os, sys; sys.stderr = open('/dev/full', 'w')",
        "import sys; sys.stderr = object()",
    ],
)
def test_rule_23_an_unusable_stderr_blocks_nothing(before: str) -> None:
    process = client("hello", 60_000, before)
    out, _ = process.communicate(timeout=60)
    assert out == b"answered\n"
    # 120 if Python itself can't flush its stderr at exit.
    assert process.returncode in (0, 120)


def test_rule_23_a_client_without_any_standard_descriptor_can_spawn_an_agent(tmp_path: Path) -> None:
    program = CLIENT.replace("os.write(1, ", f"open({str(tmp_path / 'out')!r}, 'wb').write(")
    command = ["/bin/sh", "-c", 'exec 0>&- 1>&- 2>&-; exec "$@"', "sh", sys.executable, "-c", program, "hello", "6000"]
    assert subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode == 0
    assert (tmp_path / "out").read_bytes() == b"answered\n"


async def test_rule_23_a_replaced_sys_stderr_receives_text() -> None:
    text = io.StringIO()
    code = "import os, sys; os.write(2, 'gr\\u00fc\\u00df'.encode()[:3]); os.write(2, 'gr\\u00fc\\u00df'.encode()[3:])"
    minimal: Any = SimpleNamespace(write=text.write, flush=text.flush)
    for stderr in (text, minimal):
        with redirect_stderr(stderr):
            async with script(code) as agent:
                with pytest.raises(ConnectionClosed):
                    await agent.initialize(protocol_version=1)
    assert text.getvalue() == "grüßgrüß"


def test_rule_23_the_copy_of_stderr_can_be_ended_when_it_has_ended() -> None:
    copy = StderrCopy("capture", 10)
    copy.open()
    copy.close()
    copy.end()
    assert copy.tail == ""
