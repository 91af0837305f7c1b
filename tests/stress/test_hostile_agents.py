"""Hostile agents in real processes: our client carries on or reports a clear error, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, RemoteAgent, SessionNotification, spawn_agent
from acp_runtime import ConnectionClosed, InvalidResponse, MessageTooLarge, Options
from tests.support.marked_processes import alive, marked, no_new_children
from tests.support.paths import ROOT
from tests.support.runtime.peer import PlainClient, text_of
from tests.support.stress.hostile_agent import GARBAGE, INVALID_RESPONSES, LAST_UPDATES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups of POSIX")

SCRIPT = ROOT / "tests/support/stress/hostile_agent.py"
SHORT = {"exit_deadline": 0.1, "terminate_deadline": 0.1, "flush_deadline": 0.1, "eof_grace": 0.1}


@dataclass
class Record:
    """The texts of the updates that a client received, and the frames in both directions."""

    texts: list[str] = field(default_factory=list)
    incoming: list[bytes] = field(default_factory=list)
    outgoing: list[Any] = field(default_factory=list)

    def frame(self, direction: str, line: bytes, _: float) -> None:
        if direction == "out":
            self.outgoing.append(json.loads(line))
        else:
            self.incoming.append(line)

    def errors_sent(self) -> list[tuple[Any, int]]:
        return [(each["id"], each["error"]["code"]) for each in self.outgoing if "error" in each]


@asynccontextmanager
async def hostile(
    behaviour: str, record: Record, *, leaves_process: bool = False, **options: Any
) -> AsyncIterator[RemoteAgent]:
    """Run a hostile agent with a session. Afterwards, assert that no process is left, unless one is expected."""

    class Recording(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            record.texts.append(text_of(notification))

    command = (sys.executable, "-S", str(SCRIPT), behaviour)
    settings = Options(**{**SHORT, "on_frame": record.frame, **options})
    with marked() as marker:
        try:
            with no_new_children():
                async with spawn_agent(Recording, *command, env={marker: "1"}, options=settings) as agent:
                    await agent.initialize(protocol_version=1)
                    await agent.session_new(cwd="/", mcp_servers=[])
                    yield agent
        finally:
            if leaves_process:
                assert alive(marker)
            else:
                await until_none_left(marker)


async def until_none_left(marker: str) -> None:
    async with asyncio.timeout(30):
        while alive(marker):
            await asyncio.sleep(0.005)


async def prompted(agent: RemoteAgent, text: str = "hi") -> str:
    turn = await agent.session_prompt(session_id="s1", prompt=[ContentBlockText(text=text)])
    return turn.stop_reason


async def error_of_prompt(agent: RemoteAgent) -> ConnectionClosed:
    """Send a prompt, and return the error that it fails with."""
    with pytest.raises(ConnectionClosed) as caught:
        await prompted(agent)
    return caught.value


async def test_50_megabytes_on_stderr_block_nothing() -> None:
    size = 0

    def count(chunk: bytes) -> None:
        nonlocal size
        size += len(chunk)

    async with hostile("stderr_flood", Record(), stderr=count) as agent:
        assert await prompted(agent) == "end_turn"
    assert size > 50_000_000


async def test_plain_text_on_stdout_before_between_and_after_messages_does_not_break_the_connection() -> None:
    record = Record()
    async with hostile("chatty", record) as agent:
        for _ in range(3):
            assert await prompted(agent) == "end_turn"
    assert record.texts == ["one", "two"] * 3
    errors = record.errors_sent()
    assert all(id is None for id, _ in errors)
    assert {code for _, code in errors} == {-32700, -32600}


async def test_the_death_of_an_agent_during_a_turn_is_reported_with_its_exit_code_and_stderr() -> None:
    async with hostile("dies", Record()) as agent:
        calls = [asyncio.create_task(error_of_prompt(agent)) for _ in range(20)]
        errors = await asyncio.gather(*calls)
        late = await error_of_prompt(agent)
    for error in (*errors, late):
        assert error.exit_code == 7
        assert "at line 7" in error.stderr
        assert "Exit code: 7" in str(error)


async def test_an_agent_that_crashes_is_reported_with_its_signal() -> None:
    async with hostile("dies_by_signal", Record()) as agent:
        error = await error_of_prompt(agent)
    assert (error.exit_code, error.stderr) == (-signal.SIGSEGV, "about to crash\n")


async def test_the_death_of_an_agent_is_noticed_even_if_its_child_keeps_the_pipes_open() -> None:
    record = Record()
    async with hostile("dies_and_leaves_a_child_with_its_pipes", record, high_water_messages=2) as agent:
        async with asyncio.timeout(60):
            error = await error_of_prompt(agent)
        assert error.exit_code == 5
        assert "not all of it" in error.stderr
    assert record.texts == [str(number) for number in range(LAST_UPDATES)]


async def test_children_that_ignore_sigterm_and_keep_the_pipes_open_end_with_the_agent() -> None:
    async with hostile("leaves_children", Record()) as agent:
        assert await prompted(agent) == "end_turn"


async def test_a_child_in_its_own_session_does_not_delay_the_end() -> None:
    behaviour = "leaves_a_child_in_another_session"
    async with asyncio.timeout(60), hostile(behaviour, Record(), leaves_process=True) as agent:
        assert await prompted(agent) == "end_turn"


@pytest.mark.parametrize("behaviour", ["immortal", "stopped"])
async def test_an_agent_that_ignores_everything_is_killed(behaviour: str) -> None:
    async with asyncio.timeout(60), hostile(behaviour, Record()) as agent:
        assert await prompted(agent) == "end_turn"


async def test_an_agent_that_ignores_everything_is_killed_even_if_the_body_is_cancelled_repeatedly() -> None:
    async def body() -> None:
        async with hostile("immortal", Record()) as agent:
            await prompted(agent)
            inside.set()
            await asyncio.Event().wait()

    inside = asyncio.Event()
    task = asyncio.create_task(body())
    await inside.wait()
    while not task.done():
        task.cancel()
        await asyncio.sleep(0.01)
    assert task.cancelled()


async def test_senders_wait_for_an_agent_that_never_reads_and_can_be_cancelled() -> None:
    text = "x" * 100_000
    async with hostile("deaf", Record()) as agent:
        calls = [asyncio.create_task(prompted(agent, text)) for _ in range(20)]
        sent = 0

        async def send_without_end() -> None:
            nonlocal sent
            while True:
                await agent.ext_notification("_data", text)
                sent += 1

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await send_without_end()
        assert sent < 20
        for call in calls[:10]:
            call.cancel()
        results = await asyncio.gather(*calls[:10], return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in results)
    for call in calls[10:]:
        with pytest.raises(ConnectionClosed):
            await call


async def test_calls_to_an_agent_that_has_closed_its_stdin_fail() -> None:
    async with hostile("closes_stdin", Record()) as agent:
        assert "Writing to the peer failed" in (await error_of_prompt(agent)).reason


async def test_an_agent_that_closes_its_stdout_but_keeps_running_is_reported_and_ended() -> None:
    async with hostile("closes_stdout", Record()) as agent:
        error = await error_of_prompt(agent)
    assert error.exit_code is None
    assert "closed the connection" in error.reason
    assert error.stderr == "stdout is closed\n"


async def test_an_endless_line_closes_the_connection_and_every_call_fails_with_message_too_large() -> None:
    record = Record()
    async with hostile("endless_line", record, max_message_bytes=1_000_000) as agent:
        calls = [asyncio.create_task(error_of_prompt(agent)) for _ in range(5)]
        for call in calls:
            error = await call
            assert isinstance(error, MessageTooLarge)
            assert "1000000 bytes" in str(error)
    assert record.texts == ["before"]


async def test_each_line_of_garbage_gets_one_error_and_the_turn_continues() -> None:
    record = Record()
    async with hostile("garbage", record) as agent:
        for _ in range(2):
            assert await prompted(agent) == "end_turn"
    assert record.texts == ["between"] * 2 * len(GARBAGE)
    errors = record.errors_sent()
    assert len(errors) == 2 * len(GARBAGE)
    assert errors.count((None, -32700)) == len(errors)


async def test_unexpected_responses_are_ignored() -> None:
    record = Record()
    async with hostile("unexpected_responses", record) as agent:
        for _ in range(3):
            assert await prompted(agent) == "end_turn"
    assert all("method" in message for message in record.outgoing), "a response was answered"


async def test_an_invalid_response_fails_only_its_own_call() -> None:
    record = Record()
    async with hostile("invalid_responses", record) as agent:
        for kind in INVALID_RESPONSES:
            with pytest.raises(InvalidResponse, match="session/prompt"):
                pytest.fail(f"{kind} was accepted as {await prompted(agent)}")
        assert await prompted(agent) == "end_turn"
    assert all("method" in message for message in record.outgoing)


async def test_a_flood_of_notifications_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    record = Record()
    async with hostile("floods", record) as agent:
        assert await prompted(agent) == "end_turn"
    assert record.texts == [str(number) for number in range(60)]
    assert record.errors_sent() == []
    assert len(caplog.text) < 100_000
    assert "hunter2" not in caplog.text
    assert "\x1b" not in caplog.text


async def test_an_agent_that_sends_requests_but_reads_no_responses_is_a_flood() -> None:
    record = Record()
    async with hostile("requests_without_reading", record, high_water_bytes=1000, flood_factor=1000) as agent:
        with pytest.raises(ConnectionClosed, match="more than can be handled"):
            await prompted(agent)


@pytest.mark.parametrize("kind", ["missing", "not executable", "folder", "bad interpreter", "empty", "format", "cwd"])
async def test_the_error_of_a_command_that_cannot_start_names_it_and_nothing_is_left(kind: str, tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/no/such/interpreter\n" if kind == "bad interpreter" else "\x01\x02")
    script.chmod(0o644 if kind == "not executable" else 0o755)
    commands = {"missing": "no-such-agent", "folder": str(tmp_path), "empty": ""}
    command = sys.executable if kind == "cwd" else commands.get(kind, str(script))
    cwd = tmp_path / "gone" if kind == "cwd" else None
    with no_new_children():
        for _ in range(20):
            with pytest.raises(OSError, match="Can't start the agent") as caught:
                async with spawn_agent(PlainClient, command, cwd=cwd):
                    raise AssertionError
            assert repr(command) in str(caught.value)
    if cwd is not None:
        assert str(cwd) in str(caught.value)


async def test_many_agents_at_the_same_time_leave_nothing() -> None:
    async def run(behaviour: str) -> None:
        with marked() as marker:
            command = (sys.executable, "-S", str(SCRIPT), behaviour)
            async with (
                asyncio.timeout(100),
                spawn_agent(PlainClient, *command, env={marker: "1"}, options=Options(**SHORT)) as agent,
            ):
                await agent.initialize(protocol_version=1)
                try:
                    await prompted(agent)
                except ConnectionClosed:
                    assert behaviour != "polite"
            await until_none_left(marker)

    with no_new_children():
        await asyncio.gather(*map(run, ("polite", "dies", "leaves_children", "immortal", "stopped") * 3))
