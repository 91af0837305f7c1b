"""Connections of official classes: how they are made, observed and closed, and which arguments they take."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from importlib import reload
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import RequestError
from acp.connection import StreamEvent
from acp.core import ClientSideConnection as OfficialClientSideConnection

from acp_kit import official
from acp_kit.official._observers import Observers
from tests.kit.official.peers import Echo, Screen, ask, connected, streams
from tests.support.event_loop import let_others_run


async def test_factories_get_the_connection() -> None:
    seen: list[Any] = []

    def make(connection: Any) -> Screen:
        seen.append(connection)
        return Screen()

    async with connected(make, Echo()) as connection:
        assert seen == [connection]


async def test_observers_see_both_directions() -> None:
    events: list[StreamEvent] = []
    later: list[StreamEvent] = []

    async def observe_later(event: StreamEvent) -> None:
        later.append(event)

    def fail(event: StreamEvent) -> None:
        raise ValueError

    async with connected(Screen(), Echo(), observers=[events.append, observe_later, fail]) as connection:
        await ask(connection, "hi")
    shown = [(event.direction.value, event.message.get("method")) for event in events]
    assert shown[2:] == [("outgoing", "session/prompt"), ("incoming", "session/update"), ("incoming", None)]
    assert later == events


def test_observers_get_no_line_that_is_nested_too_deeply() -> None:
    events: list[StreamEvent] = []
    Observers([events.append]).on_frame("in", b"[" * 100_000, 0.0)
    assert events == []


async def test_closing_fails_pending_calls_and_later_ones() -> None:
    async with connected(Screen(), Echo()) as connection:
        waiting = asyncio.create_task(ask(connection, "wait"))
        await connection.ext_method("x", {})
        await connection.close()
        with pytest.raises(ConnectionError, match="Connection closed"):
            await waiting
        with pytest.raises(ConnectionError, match="Connection closed"):
            await ask(connection, "hi")
        await connection.close()


async def test_closing_leaves_the_streams_open() -> None:
    async with streams() as (writer, reader, _, other_reader):
        connection = official.connect_to_agent(Screen(), writer, reader)
        await connection.close()
        writer.write(b"still open\n")
        assert await other_reader.readline() == b"still open\n"


async def test_an_agent_runs_until_its_client_leaves() -> None:
    async with streams() as (writer, reader, agent_writer, agent_reader):
        agent = asyncio.create_task(official.run_agent(Echo(), agent_writer, agent_reader))
        async with OfficialClientSideConnection(Screen(), writer, reader) as connection:
            await connection.initialize(protocol_version=1)
        assert not agent.done()
        writer.write_eof()
        await agent


async def test_an_agent_that_does_not_listen_yet_answers_nothing() -> None:
    async with streams() as (writer, reader, agent_writer, agent_reader):
        agent = official.AgentSideConnection(Echo(), agent_writer, agent_reader, listening=False)
        async with official.ClientSideConnection(Screen(), writer, reader) as connection:
            opened = asyncio.create_task(connection.initialize(protocol_version=1))
            await let_others_run(20)
            assert not opened.done()
            listening = asyncio.create_task(agent.listen())
            assert (await opened).protocol_version == 1
        await agent.close()
        await listening


async def test_a_silent_peer_times_out() -> None:
    async with streams() as (writer, reader, _, __):
        with pytest.raises(RequestError) as caught:
            await official.run_agent(Echo(), writer, reader, receive_timeout=0.01)
    assert caught.value.data == {"details": "Agent timeout"}


async def test_other_objects_than_streams_are_refused() -> None:
    for kind in (official.AgentSideConnection, official.ClientSideConnection):
        with pytest.raises(TypeError, match="Connections over HTTP and WebSockets stay"):
            kind(Echo(), object())


@pytest.mark.parametrize(
    ("connect", "handler"),
    [
        (official.connect_to_agent, Screen),
        (official.ClientSideConnection, Screen),
        (official.AgentSideConnection, Echo),
    ],
)
async def test_an_unknown_argument_warns_about_the_line_that_has_it(connect: Any, handler: Any) -> None:
    async with streams() as (writer, reader, _, __):
        with pytest.warns(RuntimeWarning, match="no argument queue") as caught:
            connection = connect(handler(), writer, reader, queue=None)
        await connection.close()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("arguments", [{"queue": None}, {"transport_kwargs": {"queue": None}}])
async def test_an_unknown_argument_of_a_process_warns_about_the_line_that_has_it(arguments: Any) -> None:
    spawned = official.spawn_agent_process(Screen(), sys.executable, "-c", "", **arguments)
    with pytest.warns(RuntimeWarning, match="no argument queue") as caught:
        async with spawned:
            pass
    assert caught[0].filename == __file__


def test_an_unknown_argument_of_an_agent_warns_about_the_line_that_runs_it(tmp_path: Path) -> None:
    lines = [
        "import asyncio",
        "import acp",
        "from acp_kit.official import run_agent",
        "class Silent(acp.Agent): pass",
        "asyncio.run(run_agent(Silent(), queue=None))",
    ]
    program = tmp_path / "agent.py"
    program.write_text("\n".join(lines), "utf-8")
    done = subprocess.run(
        [sys.executable, program], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert f"{program}:5: RuntimeWarning" in done.stderr


def test_a_release_that_is_not_tested_gives_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("importlib.metadata.version", lambda _: "0.10.0")
        with pytest.warns(RuntimeWarning, match=r"tested with .*, not with 0\.10\.0"):
            reload(official)
    reload(official)


def test_every_name_exists_in_the_official_package() -> None:
    names = set(official.__all__) - {"TESTED_RELEASES"}
    assert {name for name in names if not hasattr(acp.core, name) and not hasattr(acp, name)} == set()
