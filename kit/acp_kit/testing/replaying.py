"""Plays the client of a recording to an agent."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import ModuleType

from acp_bindings import v1
from acp_kit.common.sequences import check_sequence
from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.connecting import AnyAgent, explaining_failures, open_transport_pair, serve
from acp_kit.testing.replay import Replay
from acp_kit.testing.replayed_client import ReplayedClient
from acp_kit.testing.subprocesses import GRACE, start_process
from acp_runtime import Options
from acp_runtime.transports import StreamTransport, Transport


async def replay_client(
    file: str | Path,
    agent: AnyAgent | Sequence[str],
    *,
    cwd: str | Path | None = None,
    deadline: float = 10.0,
    profile: ModuleType = v1,
) -> None:
    """Play the client of a recording to an agent, and check that the agent does what the recorded one did.

    The client sends each message once the agent has answered the requests before it. The agent's requests are matched
    by method and params, its responses by whether they are errors and by their stop reasons. Its updates may differ.

    Args:
        file: the recording, such as one of `acp-bindings tap`.
        agent: the agent, as for `connect`.
        cwd: the working directory to use instead of the recorded one.
        deadline: after how many seconds the replay fails.
        profile: the profile of a factory, such as `acp_bindings.v2_draft`.

    Raises:
        OSError: if the file can't be read, or the agent can't be started.
        ValueError: if the file isn't a recording.
        AssertionError: if the agent does something else. The message has the differences.
        TimeoutError: if the agent is not done at the deadline. The message says what the recording waits for.
    """
    client = ReplayedClient(file, cwd=cwd)
    async with explaining_failures(deadline, client, agent) as options:
        while True:
            async with _agent_transport(agent, profile) as transport:
                await client.serve(transport, options, lambda _: transport.close())
            if not client.continues:
                break
        client.assert_done()


@asynccontextmanager
async def _agent_transport(agent: AnyAgent | Sequence[str], profile: ModuleType) -> AsyncGenerator[Transport]:
    """Start an agent, and yield the client's end of the connection. At the end of the block, wait for the agent's."""
    if callable(agent) or isinstance(agent, (ScriptedAgent, Replay)):
        client_end, agent_end = await open_transport_pair()
        serving = asyncio.create_task(serve(agent, agent_end, Options(), lambda _: agent_end.close(), profile))
        try:
            yield client_end
        finally:
            with suppress(OSError):  # the agent has ended
                await client_end.close()
            await serving
    else:
        async with start_process(check_sequence("agent", agent), stdin=PIPE, stdout=PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            yield StreamTransport(process.stdout, process.stdin)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE)
