"""The deployment in `examples/remote`: whatever process is killed, the client goes on with the whole conversation."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.content import to_text
from acp_kit.history import SqlHistory
from tests.support.kit.deployment import FOLDER, Deployment, deployed
from tests.support.postgresql import PostgreSQL
from tests.support.scale import SEED, count

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.stress,
    pytest.mark.skipif(sys.platform == "win32", reason="HAProxy doesn't run there"),
]

# The longest time from a prompt, or else from the connection, until its process is killed, in seconds.
LONGEST = 0.3
# For each way of connecting.
PROMPTS = [f"count {1_000_000 + number}" for number in range(count(3, 100))]
LAST_PROMPT = "count 3"


async def lines_of_client(url: str) -> AsyncGenerator[str]:
    """Let the client send all prompts, and yield the lines that it prints."""
    command = [str(FOLDER / "client.py"), url, *PROMPTS, LAST_PROMPT]
    client = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE, limit=2**24)
    try:
        assert client.stdout is not None
        async for line in client.stdout:
            yield line.decode().rstrip("\n")
        assert await client.wait() == 0
    finally:
        if client.returncode is None:
            client.kill()
            await client.wait()


async def talk_and_kill(deployment: Deployment, scheme: str) -> list[str]:
    """Kill the process that serves the client at a random moment of each connection, until the last prompt."""
    url = f"{scheme}://{deployment.address}/acp"
    seeded, one_at_a_time, shown = Random(SEED), asyncio.Lock(), list[str]()

    async def kill(pid: int) -> None:
        async with one_at_a_time:
            await asyncio.sleep(seeded.uniform(0, LONGEST))
            await asyncio.to_thread(deployment.kill, pid)

    async with asyncio.TaskGroup() as kills, aclosing(lines_of_client(url)) as lines:
        pid, moment = 0, ""
        async for line in lines:
            shown.append(line)
            if line.startswith("[connected"):
                pid, moment = int(line.strip("]").split()[-1]), seeded.choice(["[connected", "> ", "> ", "> "])
            if moment and line.startswith(moment) and shown.count(f"> {LAST_PROMPT}") == 0:
                kills.create_task(kill(pid))
                moment = ""
    return shown


class Conversation:
    """The conversation that the client's lines describe.

    Attributes:
        loaded: how often it was loaded.
        prompts: the user's prompts when it was loaded.
        last: its last number.
    """

    def __init__(self) -> None:
        self.loaded = 0
        self.prompts: list[str] = []
        self.last = 0
        self._seen = 0
        self._sent: list[str] = []
        self._answered: list[str] = []

    def take(self, line: str) -> None:
        """Check a line against all before it."""
        kind, _, rest = line.partition(" ")
        if kind == "[connected":
            self.loaded, self.prompts, self.last = self.loaded + 1, [], 0
        elif kind == "user:":
            self.prompts.append(rest)
        elif kind == "agent:":
            self._take_numbers(rest)
        elif kind == ">":
            self._check()
            if rest not in self._sent:  # else the agent hadn't got it
                self._sent.append(rest)
        elif line and not line.startswith("["):
            self._take_numbers(line)
            self._seen = self.last
            self._answered.append(self._sent[-1])

    def _take_numbers(self, numbers: str) -> None:
        """Take numbers, which must continue the ones before without a gap."""
        for number in map(int, numbers.split()):
            assert number == self.last + 1
            self.last = number

    def _check(self) -> None:
        """Check a conversation that was loaded: it has everything that was printed before, and no prompt twice."""
        assert self.last >= self._seen
        assert self.prompts == [prompt for prompt in self._sent if prompt in self.prompts]
        assert {*self._answered} <= {*self.prompts}


async def read_last_session(history: str) -> list[Any]:
    """Return the last session in the database. There may be earlier ones, whose ids never reached the client."""
    async with SqlHistory(history) as store:
        last = (await store.list(limit=1)).sessions[0]
        return [update async for update in store.read(last.session_id)]


def text_of(kind: type[Any], updates: list[Any]) -> list[str]:
    return [to_text([update.content]) for update in updates if isinstance(update, kind)]


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_the_client_goes_on_with_the_whole_conversation_whatever_process_is_killed(
    scheme: str, postgresql: PostgreSQL
) -> None:
    history, conversation = postgresql.create_database(), Conversation()
    with tempfile.TemporaryDirectory(prefix="acp") as folder, deployed(Path(folder), history) as deployment:
        shown = asyncio.run(talk_and_kill(deployment, scheme))
    for line in shown:
        conversation.take(line)
    assert shown[-1] == "[end_turn]"
    assert conversation.loaded > len(PROMPTS)
    updates = asyncio.run(read_last_session(history))
    numbers = "".join(text_of(v1.SessionUpdateAgentMessageChunk, updates)).split()
    assert numbers == [str(number) for number in range(1, conversation.last + 1)]
    assert text_of(v1.SessionUpdateUserMessageChunk, updates) == [*PROMPTS, LAST_PROMPT]
