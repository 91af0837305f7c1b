"""Agents that nobody wishes for, as real processes, driven by our client: a clear end or going on, and nothing left."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, RemoteAgent, SessionNotification, spawn_agent
from acp_runtime import ConnectionClosed, InvalidResponse, MessageTooLarge, Options
from tests.support.paths import ROOT
from tests.support.runtime.peer import PlainClient, text_of
from tests.support.stress.hostile_agent import BAD_ANSWERS, GARBAGE, LAST_UPDATES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups of POSIX")

SCRIPT = ROOT / "tests/support/stress/hostile_agent.py"
SHORT = {"exit_deadline": 0.2, "terminate_deadline": 0.2, "flush_deadline": 0.2, "eof_grace": 0.2}


@dataclass
class Seen:
    """What the client of a test got: the text of its updates, and every line that went either way."""

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


def processes_of(marker: str) -> set[int]:
    """Every process that has a marker in its environment, whoever its parent is now."""
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if marker.encode() in environment:
            found.add(int(folder.name))
    return found


def assert_no_children() -> None:
    """Every process that was started from here has been waited for."""
    try:
        assert os.waitpid(-1, os.WNOHANG) == (0, 0), "a child nobody waited for"
    except ChildProcessError:
        return
    raise AssertionError("a child that still runs")


@asynccontextmanager
async def hostile(behaviour: str, seen: Seen, marker: str = "", **options: Any) -> AsyncIterator[RemoteAgent]:
    """A client of a hostile agent, in a session. Afterwards nothing of the agent is left."""

    class Watching(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            seen.texts.append(text_of(notification))

    marker = marker or f"ACP_STRESS_{uuid.uuid4().hex}"
    command = (sys.executable, "-S", str(SCRIPT), behaviour)
    settings = Options(**{**SHORT, "on_frame": seen.frame, **options})
    try:
        async with spawn_agent(Watching, *command, env={marker: "1"}, options=settings) as agent:
            await agent.initialize(protocol_version=1)
            await agent.session_new(cwd="/", mcp_servers=[])
            yield agent
    finally:
        assert_no_children()
        if not marker.endswith("escapes"):
            await none_left(marker)


async def none_left(marker: str) -> None:
    async with asyncio.timeout(30):
        while processes_of(marker):
            await asyncio.sleep(0.005)


async def prompted(agent: RemoteAgent, text: str = "hi") -> str:
    turn = await agent.session_prompt(session_id="s1", prompt=[ContentBlockText(text=text)])
    return turn.stop_reason


async def closed(agent: RemoteAgent) -> ConnectionClosed:
    """The error that a prompt ends with."""
    with pytest.raises(ConnectionClosed) as caught:
        await prompted(agent)
    return caught.value


async def test_50_megabytes_of_stderr_hold_nothing_up() -> None:
    size = 0

    def count(chunk: bytes) -> None:
        nonlocal size
        size += len(chunk)

    async with hostile("stderr_flood", Seen(), stderr=count) as agent:
        assert await prompted(agent) == "end_turn"
    assert size > 50_000_000


async def test_plain_text_on_stdout_before_between_and_after_messages_is_survived() -> None:
    seen = Seen()
    async with hostile("chatty", seen) as agent:
        for _ in range(3):
            assert await prompted(agent) == "end_turn"
    assert seen.texts == ["one", "two"] * 3
    answers = seen.errors_sent()
    assert all(id is None for id, _ in answers)
    assert {code for _, code in answers} == {-32700, -32600}


async def test_an_agent_that_dies_in_a_turn_fails_it_with_its_exit_code_and_last_words() -> None:
    async with hostile("dies", Seen()) as agent:
        calls = [asyncio.create_task(closed(agent)) for _ in range(20)]
        errors = await asyncio.gather(*calls)
        late = await closed(agent)
    for error in (*errors, late):
        assert error.exit_code == 7
        assert "at line 7" in error.stderr
        assert "Exit code: 7" in str(error)


async def test_an_agent_that_crashes_is_reported_with_its_signal() -> None:
    async with hostile("dies_by_signal", Seen()) as agent:
        error = await closed(agent)
    assert (error.exit_code, error.stderr) == (-signal.SIGSEGV, "about to crash\n")


async def test_a_dead_agent_is_noticed_though_its_child_holds_the_pipes() -> None:
    seen = Seen()
    async with hostile("dies_and_leaves_a_child_with_its_pipes", seen, high_water_messages=2) as agent:
        async with asyncio.timeout(60):
            error = await closed(agent)
        assert error.exit_code == 5
        assert "not all of it" in error.stderr
    assert seen.texts == [str(number) for number in range(LAST_UPDATES)]


async def test_five_children_that_ignore_sigterm_and_hold_the_pipes_end_with_the_agent() -> None:
    async with hostile("leaves_children", Seen()) as agent:
        assert await prompted(agent) == "end_turn"


async def test_a_child_in_a_session_of_its_own_does_not_hold_the_end_up() -> None:
    marker = f"ACP_STRESS_{uuid.uuid4().hex}_escapes"
    try:
        async with asyncio.timeout(60), hostile("leaves_a_child_in_another_session", Seen(), marker) as agent:
            assert await prompted(agent) == "end_turn"
    finally:
        for pid in processes_of(marker):
            os.kill(pid, signal.SIGKILL)
    await none_left(marker)


@pytest.mark.parametrize("behaviour", ["immortal", "stopped"])
async def test_an_agent_that_ignores_everything_is_killed(behaviour: str) -> None:
    async with asyncio.timeout(60), hostile(behaviour, Seen()) as agent:
        assert await prompted(agent) == "end_turn"


async def test_it_is_killed_also_when_the_body_is_cancelled_again_and_again() -> None:
    async def body() -> None:
        async with hostile("immortal", Seen()) as agent:
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


async def test_an_agent_that_never_reads_makes_senders_wait_and_lets_them_be_cancelled() -> None:
    text = "x" * 100_000
    seen = Seen()
    async with hostile("deaf", seen) as agent:
        calls = [asyncio.create_task(prompted(agent, text)) for _ in range(20)]
        sent = 0

        async def send_without_end() -> None:
            nonlocal sent
            while True:
                await agent.ext_notification("_data", text)
                sent += 1

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await send_without_end()
        assert sent < 20
        for call in calls[:10]:
            call.cancel()
        results = await asyncio.gather(*calls[:10], return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in results)
    for call in calls[10:]:
        with pytest.raises(ConnectionClosed):
            await call


async def test_an_agent_that_closes_its_stdin_fails_what_is_sent_to_it() -> None:
    async with hostile("closes_stdin", Seen()) as agent:
        assert "Writing to the peer failed" in (await closed(agent)).reason


async def test_an_agent_that_closes_its_stdout_and_lives_on_is_reported_and_ended() -> None:
    async with hostile("closes_stdout", Seen()) as agent:
        error = await closed(agent)
    assert error.exit_code is None
    assert "closed the connection" in error.reason
    assert error.stderr == "stdout is closed\n"


async def test_a_line_without_end_closes_the_connection_with_a_typed_error_on_every_call() -> None:
    seen = Seen()
    async with hostile("endless_line", seen, max_message_bytes=1_000_000) as agent:
        calls = [asyncio.create_task(closed(agent)) for _ in range(5)]
        for call in calls:
            error = await call
            assert isinstance(error, MessageTooLarge)
            assert "1000000 bytes" in str(error)
    assert seen.texts == ["before"]


async def test_garbage_gets_one_answer_a_line_and_the_turn_goes_on() -> None:
    seen = Seen()
    async with hostile("garbage", seen) as agent:
        for _ in range(2):
            assert await prompted(agent) == "end_turn"
    assert seen.texts == ["between"] * 2 * len(GARBAGE)
    answers = seen.errors_sent()
    assert len(answers) == 2 * len(GARBAGE)
    # One is a request with NaN: its id is certain.
    assert answers.count((None, -32700)) == len(answers) - 2
    assert answers.count((1, -32700)) == 2


async def test_answers_that_nobody_asked_for_are_ignored() -> None:
    seen = Seen()
    async with hostile("answers_nobody_asked_for", seen) as agent:
        for _ in range(3):
            assert await prompted(agent) == "end_turn"
    assert all("method" in message for message in seen.outgoing), "an answer was answered"


async def test_answers_that_are_none_fail_that_call_and_no_other() -> None:
    seen = Seen()
    async with hostile("bad_answers", seen) as agent:
        for kind in BAD_ANSWERS:
            with pytest.raises(InvalidResponse, match="session/prompt"):
                pytest.fail(f"{kind} counted as {await prompted(agent)}")
        assert await prompted(agent) == "end_turn"
    assert all("method" in message for message in seen.outgoing)


async def test_a_flood_of_notifications_is_ignored_without_filling_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    seen = Seen()
    async with hostile("floods", seen) as agent:
        assert await prompted(agent) == "end_turn"
    assert seen.texts == [str(number) for number in range(200)]
    assert seen.errors_sent() == []
    assert len(caplog.text) < 100_000
    assert "hunter2" not in caplog.text
    assert "\x1b" not in caplog.text


async def test_an_agent_that_asks_without_end_and_never_listens_is_not_read_without_end() -> None:
    seen = Seen()
    async with hostile("asks_and_never_listens", seen, unread_answer_bytes=200_000) as agent:
        call = asyncio.create_task(prompted(agent))
        await asyncio.wait({call}, timeout=0.5)
        # 10 KB each; the answers are some 100 bytes each.
        assert len(seen.incoming) < 50_000
        call.cancel()
        await asyncio.wait({call})


@pytest.mark.parametrize("kind", ["missing", "not executable", "folder", "bad interpreter", "empty", "format", "cwd"])
async def test_a_command_that_cannot_start_is_an_error_that_names_it_and_leaves_nothing(
    kind: str, tmp_path: Path
) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/no/such/interpreter\n" if kind == "bad interpreter" else "\x01\x02")
    script.chmod(0o644 if kind == "not executable" else 0o755)
    commands = {"missing": "no-such-agent", "folder": str(tmp_path), "empty": ""}
    command = sys.executable if kind == "cwd" else commands.get(kind, str(script))
    cwd = tmp_path / "gone" if kind == "cwd" else None
    for _ in range(20):
        with pytest.raises(OSError, match="Can't start the agent") as caught:
            async with spawn_agent(PlainClient, command, cwd=cwd):
                raise AssertionError
        assert repr(command) in str(caught.value)
    if cwd is not None:
        assert str(cwd) in str(caught.value)
    assert_no_children()


async def test_many_agents_at_once_leave_nothing() -> None:
    async def one(behaviour: str) -> None:
        async with asyncio.timeout(100):
            marker = f"ACP_STRESS_{uuid.uuid4().hex}"
            command = (sys.executable, "-S", str(SCRIPT), behaviour)
            async with spawn_agent(PlainClient, *command, env={marker: "1"}, options=Options(**SHORT)) as agent:
                await agent.initialize(protocol_version=1)
                try:
                    await prompted(agent)
                except ConnectionClosed:
                    assert behaviour != "polite"
        await none_left(marker)

    await asyncio.gather(*map(one, ("polite", "dies", "leaves_children", "immortal", "stopped") * 3))
    assert_no_children()
