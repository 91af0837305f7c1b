"""Agents that official classes start: their process, its stderr and its end."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import STDOUT
from typing import Any

import pytest

from acp_kit import official
from tests.kit.official.peers import Screen


async def test_a_command_that_can_not_be_started_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-agent"):
        async with official.spawn_agent_process(Screen(), "no-such-agent"):
            pass


async def test_a_process_is_shown_as_the_official_sdk_does() -> None:
    program = "import sys; sys.stderr.write('warning\\n'); sys.stdin.read()"
    async with official.spawn_agent_process(Screen(), sys.executable, "-c", program) as (_, process):
        assert (process.stdout, process.returncode) == (None, None)
        assert process.stderr is not None
        assert await process.stderr.readline() == b"warning\n"
        process.terminate()
        assert await process.wait() != 0
        assert await process.stderr.read() == b""
    assert process.returncode is not None


async def test_the_last_words_of_a_process_are_in_its_stderr() -> None:
    program = "import sys; sys.stdin.read(); sys.stderr.write('bye')"
    async with official.spawn_agent_process(Screen(), sys.executable, "-c", program) as (_, process):
        assert process.stderr is not None
    assert await process.stderr.read() == b"bye"


async def test_a_process_whose_stdin_is_closed_ends_by_itself() -> None:
    program = """if True:
        import sys
        sys.stdin.read()
        content = '{"type": "text", "text": "bye"}'
        update = '{"sessionUpdate": "agent_message_chunk", "content": %s}' % content
        params = '{"sessionId": "s", "update": %s}' % update
        print('{"jsonrpc": "2.0", "method": "session/update", "params": %s}' % params)
    """
    screen = Screen()
    async with official.spawn_agent_process(screen, sys.executable, "-c", program) as (connection, process):
        waiting = asyncio.create_task(connection.initialize(protocol_version=1))
        await asyncio.sleep(0)
        stdin: Any = process.stdin
        assert not stdin.is_closing()
        stdin.close()
        stdin.write_eof()
        assert stdin.is_closing()
        await stdin.wait_closed()
        assert await process.wait() == 0
        with pytest.raises(ConnectionError, match="Connection closed"):
            await waiting
    assert screen.texts == ["bye"]


async def test_stderr_that_goes_to_stdout_is_kept_for_the_error(caplog: pytest.LogCaptureFixture) -> None:
    program = "import sys; sys.stderr.write('out of memory'); sys.exit(3)"
    merged = {"stderr": STDOUT}
    async with official.spawn_agent_process(Screen(), sys.executable, "-c", program, transport_kwargs=merged) as (
        connection,
        process,
    ):
        with pytest.raises(ConnectionError, match="out of memory"):
            await connection.initialize(protocol_version=1)
        assert process.stderr is None
    assert caplog.messages == []


async def test_closing_a_connection_to_a_process_fails_pending_calls_and_ends_the_process() -> None:
    program = "import sys; sys.stdin.read()"
    async with official.spawn_agent_process(Screen(), sys.executable, "-c", program) as (connection, process):
        waiting = asyncio.create_task(connection.initialize(protocol_version=1))
        await asyncio.sleep(0)
        await connection.close()
        with pytest.raises(ConnectionError, match="Connection closed"):
            await waiting
        assert process.returncode == 0


async def test_a_handler_can_close_a_connection_to_a_process() -> None:
    class Leaver(Screen):
        def on_connect(self, conn: Any) -> None:
            self.agent = conn

        async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
            await self.agent.close()

    program = """if True:
        import sys
        print('{"jsonrpc": "2.0", "method": "_leave"}', flush=True)
        sys.stdin.read()
    """
    async with official.spawn_agent_process(Leaver(), sys.executable, "-c", program) as (connection, process):
        with pytest.raises(ConnectionError, match="Connection closed"):
            await connection.initialize(protocol_version=1)
    assert process.returncode == 0
