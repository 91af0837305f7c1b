"""Calls between official classes on our connections: their arguments, results and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, update_agent_message_text
from acp.schema import (
    ElicitationFormSessionMode,
    ElicitationSchema,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionRequest,
    PromptResponse,
)

from acp_kit.testing import ScriptedAgent, ScriptedClient, connect
from tests.kit.official.peers import Echo, Screen, ask, connected


async def test_a_turn_and_a_call_of_an_extension_method_are_answered() -> None:
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


async def test_official_models_and_ours_live_in_one_process() -> None:
    """Each on its own connection: an agent of the official SDK, which is the client of an agent of ours."""

    class Outer(Echo):
        async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
            async with connect(ScriptedAgent(["inner"]), ScriptedClient()) as session:
                text = await session.ask(prompt[0].text)
            await self.client.session_update(session_id, update_agent_message_text(f"outer {text}"))
            return PromptResponse(stop_reason="end_turn")

    screen = Screen()
    async with connected(screen, Outer()) as connection:
        await ask(connection, "hi")
    assert screen.texts == ["outer inner"]
