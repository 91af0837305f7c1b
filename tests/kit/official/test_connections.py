"""Connections with the official classes, in one process: their arguments, their ends and their reports."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from asyncio.subprocess import STDOUT
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import reload
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import Agent, Client, RequestError, text_block, update_agent_message_text
from acp.connection import StreamEvent
from acp.core import ClientSideConnection as OfficialClientSideConnection
from acp.schema import (
    AcceptElicitationResponse,
    ElicitationFormSessionMode,
    ElicitationSchema,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptResponse,
    SetSessionConfigOptionResponse,
)

from acp_bindings import v1
from acp_kit import official
from acp_kit.official._observers import Observers
from tests.support.loop_iterations import let_others_run


class Echo(Agent):
    """Sends the text of a prompt back."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.block = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, mcp_servers: Any = None, **meta: Any) -> NewSessionResponse:
        self.got.append((cwd, mcp_servers, meta.get("trace")))
        return NewSessionResponse(session_id="s")

    async def set_config_option(self, config_id: str, session_id: str, value: Any, **_: Any) -> Any:
        self.got.append(value)
        return SetSessionConfigOptionResponse(config_options=[])

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
        text = prompt[0].text
        if text == "fail":
            raise ValueError('{"reason": [1]}')
        if text == "wait":
            await self.block.wait()
        await self.client.session_update(session_id, update_agent_message_text(text))
        return PromptResponse(stop_reason="end_turn")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {method: InitializeResponse(protocol_version=1) if method == "acme/model" else params}


class Screen(Client):
    """Keeps the texts that it receives."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.texts.append(update.content.text)

    async def create_elicitation(self, message: str, mode: Any, **meta: Any) -> AcceptElicitationResponse:
        return AcceptElicitationResponse(action="accept", content={"message": message, "meta": str(meta)})


@asynccontextmanager
async def streams() -> AsyncGenerator[tuple[Any, Any, Any, Any]]:
    """Yield the writer and the reader of both ends of a socket."""
    left, right = socket.socketpair()
    left_reader, left_writer = await asyncio.open_connection(sock=left)
    right_reader, right_writer = await asyncio.open_connection(sock=right)
    try:
        yield left_writer, left_reader, right_writer, right_reader
    finally:
        for writer in (left_writer, right_writer):
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def connected(client: Any, agent: Any, **options: Any) -> AsyncGenerator[Any]:
    async with (
        streams() as (writer, reader, agent_writer, agent_reader),
        official.AgentSideConnection(agent, agent_writer, agent_reader, use_unstable_protocol=True),
        official.ClientSideConnection(client, writer, reader, use_unstable_protocol=True, **options) as connection,
    ):
        await connection.initialize(protocol_version=1)
        yield connection


async def ask(connection: Any, text: str) -> Any:
    return await connection.prompt(session_id="s", prompt=[text_block(text)])


async def test_a_turn_and_an_extension_method() -> None:
    screen = Screen()
    async with connected(screen, Echo()) as connection:
        session = await connection.new_session("/tmp", trace=1)
        assert session.session_id == "s"
        assert (await ask(connection, "hi")).stop_reason == "end_turn"
        assert await connection.ext_method("acme/ping", {"n": None}) == {"acme/ping": {"n": None}}
    assert screen.texts == ["hi"]


@pytest.mark.parametrize("value", [Path("/tmp"), {1}, b"text", InitializeResponse(protocol_version=1)])
async def test_an_extension_method_takes_nothing_but_json(value: Any) -> None:
    async with connected(Screen(), Echo()) as connection:
        with pytest.raises(TypeError, match="not JSON serializable"):
            await connection.ext_method("acme/ping", {"value": value})
        with pytest.raises(TypeError, match="not JSON serializable"):
            await connection.ext_notification("acme/ping", {"value": value})


async def test_a_model_inside_of_a_result_is_an_error_for_the_peer() -> None:
    async with connected(Screen(), Echo()) as connection:
        with pytest.raises(RequestError) as caught:
            await connection.ext_method("acme/model", {})
    assert caught.value.code == -32603
    assert "not JSON serializable" in str(caught.value.data)


async def test_factories_get_the_connection() -> None:
    seen: list[Any] = []

    def make(connection: Any) -> Screen:
        seen.append(connection)
        return Screen()

    async with connected(make, Echo()) as connection:
        assert seen == [connection]


async def test_lists_are_filled_in_as_the_official_methods_do() -> None:
    echo = Echo()
    async with connected(Screen(), echo) as connection:
        await connection.new_session(cwd="/tmp", trace=1)
    assert echo.got == [("/tmp", [], 1)]


async def test_a_call_without_a_required_argument_raises() -> None:
    async with connected(Screen(), Echo()) as connection:
        with pytest.raises(TypeError, match="cwd"):
            await connection.new_session()


async def test_the_value_of_a_config_option_decides_its_model() -> None:
    echo = Echo()
    async with connected(Screen(), echo) as connection:
        for value in (True, "fast"):
            await connection.set_config_option(config_id="c", session_id="s", value=value)
    assert echo.got == [True, "fast"]


@pytest.mark.parametrize("result", [None, True])
async def test_null_and_true_read_as_an_empty_result_where_no_field_is_required(result: Any) -> None:
    class Loading(Echo):
        async def load_session(self, **_: Any) -> Any:
            return result

    async with connected(Screen(), Loading()) as connection:
        loaded = await connection.load_session(cwd="/tmp", session_id="s")
    assert loaded == LoadSessionResponse()


async def test_an_agent_asks_with_a_form() -> None:
    echo = Echo()
    async with connected(Screen(), echo):
        mode = ElicitationFormSessionMode(session_id="s", requested_schema=ElicitationSchema(type="object"))
        answer = await echo.client.create_elicitation("Name?", mode, trace=1)
    assert answer.content == {"message": "Name?", "meta": "{'trace': 1}"}


async def test_an_elicitation_has_one_of_the_official_modes() -> None:
    echo = Echo()
    async with connected(Screen(), echo):
        with pytest.raises(TypeError, match="Unsupported elicitation mode: ElicitationSchema"):
            await echo.client.create_elicitation("Name?", ElicitationSchema(type="object"))


async def test_an_exception_is_an_internal_error_with_the_json_in_its_text(caplog: pytest.LogCaptureFixture) -> None:
    async with connected(Screen(), Echo()) as connection:
        with pytest.raises(RequestError) as caught:
            await ask(connection, "fail")
    assert (caught.value.code, caught.value.data) == (-32603, {"reason": [1]})
    assert "Unhandled error while handling request method=session/prompt" in caplog.text


class Stopping(Echo):
    """Its turns wait until they are cancelled, then say so."""

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
        await self.client.ext_notification("waiting", {})
        await self.block.wait()
        if prompt[0].text == "fail":
            raise ValueError
        await self.client.session_update(session_id, update_agent_message_text("stopped"))
        return PromptResponse(stop_reason="cancelled")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.block.set()


class Canceller(Screen):
    """Cancels each turn that waits."""

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        await self.agent.cancel("s")


async def test_the_cancel_handler_of_the_agent_decides_how_its_turn_ends() -> None:
    screen = Canceller()
    async with connected(screen, Stopping()) as connection:
        assert (await ask(connection, "hi")).stop_reason == "cancelled"
    assert screen.texts == ["stopped"]


async def test_a_cancelled_turn_that_fails_is_answered_as_cancelled() -> None:
    async with connected(Canceller(), Stopping()) as connection:
        assert (await ask(connection, "fail")).stop_reason == "cancelled"


async def test_a_notification_handler_that_fails_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Screen):
        async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
            raise ValueError

    async with connected(Failing(), Echo()) as connection:
        await ask(connection, "hi")
    assert caplog.messages == ["Unhandled error while handling notification method=session/update"]


async def test_invalid_params_are_refused_without_their_values() -> None:
    async with connected(Screen(), Echo()) as connection:
        with pytest.raises(RequestError) as caught:
            await connection.send_request("session/prompt", {"sessionId": 5, "prompt": "secret"})
    assert caught.value.code == -32602
    assert "sessionId" in str(caught.value.data)
    assert "secret" not in str(caught.value.data)


async def test_a_method_that_neither_side_has_is_not_found() -> None:
    async with connected(Screen(), Echo()) as connection:
        for method in ("session/unknown", "session/delete"):
            with pytest.raises(RequestError) as caught:
                await connection.send_request(method, {"sessionId": "s"})
            assert caught.value.code == -32601


async def test_old_style_calls_warn() -> None:
    async with connected(Screen(), Echo()) as connection:
        with pytest.warns(DeprecationWarning, match="Calling new_session with NewSessionRequest parameter") as caught:
            assert (await connection.newSession(NewSessionRequest(cwd="/", mcp_servers=[]))).session_id == "s"
    assert caught[0].filename == __file__


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


async def test_official_models_and_ours_live_in_one_process() -> None:
    """Each on its own connection: an agent of the official SDK, which is the client of an agent of ours."""

    class Inner(v1.Agent):
        def __init__(self, client: v1.RemoteClient) -> None:
            self.client = client

        async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
            return v1.InitializeResponse(protocol_version=1)

        async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id="inner")

        async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
            update = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text="inner"))
            await self.client.session_update(session_id=request.session_id, update=update)
            return v1.PromptResponse(stop_reason="end_turn")

    class Outer(Echo):
        async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
            outer = self.client

            class InnerClient(v1.Client):
                async def session_update(self, notification: v1.SessionNotification) -> None:
                    json = notification.update.model_dump(mode="json", by_alias=True)
                    text = json["content"]["text"]
                    await outer.session_update(session_id, update_agent_message_text(f"outer {text}"))

                async def session_request_permission(
                    self, request: v1.RequestPermissionRequest
                ) -> v1.RequestPermissionResponse:
                    raise AssertionError

            async with v1.connect_in_process(Inner, lambda _: InnerClient()) as inner:
                await inner.initialize(protocol_version=1)
                session = await inner.session_new(cwd="/", mcp_servers=[])
                block = v1.ContentBlockText(text=prompt[0].text)
                turn = await inner.session_prompt(session_id=session.session_id, prompt=[block])
            return PromptResponse(stop_reason=turn.stop_reason)

    screen = Screen()
    async with connected(screen, Outer()) as connection:
        await ask(connection, "hi")
    assert screen.texts == ["outer inner"]


def test_a_release_that_is_not_tested_gives_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("importlib.metadata.version", lambda _: "0.10.0")
        with pytest.warns(RuntimeWarning, match=r"tested with .*, not with 0\.10\.0"):
            reload(official)
    reload(official)


def test_every_name_exists_in_the_official_package() -> None:
    names = set(official.__all__) - {"TESTED_RELEASES"}
    assert {name for name in names if not hasattr(acp.core, name) and not hasattr(acp, name)} == set()
