"""What a `ScriptedAgent` answers to other requests than prompts."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bindings import v1, v1_unstable
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_kit.agent import Turn, select
from acp_kit.client import open_session
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect
from acp_runtime import AuthenticationRequired, MethodNotFound, RemoteError, RequestError, ResourceNotFound
from tests.support.kit.turns import Viewer

CAPABILITIES = v1.AgentCapabilities(
    load_session=True,
    session_capabilities=v1.SessionCapabilities(
        list=v1.SessionListCapabilities(),
        resume=v1.SessionResumeCapabilities(),
        close=v1.SessionCloseCapabilities(),
        delete=v1.SessionDeleteCapabilities(),
    ),
)
MODES = select("mode", "Mode", {"ask": "Ask first", "code": "Write code"}, category="mode")
MODEL = select("model", "Model", {"small": "Small", "large": "Large"})


async def test_each_request_of_version_1_has_a_usual_answer(caplog: pytest.LogCaptureFixture) -> None:
    capabilities = CAPABILITIES.model_copy(update={"auth": v1.AgentAuthCapabilities(logout=v1.LogoutCapabilities())})
    login = v1.AuthMethodAgent(id="key", name="Key")
    initialize = v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities, auth_methods=[login])
    agent = ScriptedAgent("loaded", "said", options=[MODES], initialize=initialize)
    async with connect(agent, Viewer) as session:
        remote = session.agent
        await remote.authenticate(method_id="key")
        await remote.session_load(cwd="/", mcp_servers=[], session_id="old")
        await remote.session_prompt(session_id="old", prompt=[])
        await remote.session_set_mode(mode_id="code", session_id="old")
        await remote.session_set_config_option(config_id="mode", value="ask", session_id="old")
        assert [info.session_id for info in (await remote.session_list()).sessions] == [session.id, "old"]
        await remote.session_close(session_id="old")
        await remote.session_resume(cwd="/", session_id="old")
        await remote.session_delete(session_id="old")
        assert [info.session_id for info in (await remote.session_list()).sessions] == [session.id]
        await remote.logout()
    assert caplog.record_tuples == []
    came = {type(request).__name__.removesuffix("ValueId") for request in agent.requests}
    assert came == {method.params for method in AGENT_SIDE.requests.values()}
    agent.assert_done()


async def test_a_load_plays_the_next_steps() -> None:
    user = v1.SessionUpdateUserMessageChunk(content=v1.ContentBlockText(text="hello?"))
    agent = ScriptedAgent([user, "Hello"], "again", ResourceNotFound("gone"), capabilities=CAPABILITIES)
    async with connect(agent, Viewer) as session:
        async with open_session(session.agent, cwd="/work", load="old") as loaded:
            assert [message.role for message in loaded.state.messages] == ["user", "agent"]
            assert await loaded.ask("1") == "again"
        with pytest.raises(RemoteError, match="gone"):
            async with open_session(session.agent, cwd="/work", load="older"):
                pass
        assert agent.where.startswith("session/load 3 of 3 got to step 1 of 1, ResourceNotFound")
    agent.assert_done()


async def test_the_requests_have_everything_that_has_arrived() -> None:
    server = v1.McpServerStdio(name="files", command="/bin/files", args=["-v"], env=[])
    agent = ScriptedAgent()
    async with connect(agent, ScriptedClient()) as session:
        await session.agent.session_new(cwd="/elsewhere", mcp_servers=[server], meta={"systemPrompt": "Be kind"})
    initialize, _, request = agent.requests
    assert initialize.client_capabilities == ScriptedClient().capabilities
    assert (request.cwd, request.mcp_servers, request.meta) == ("/elsewhere", [server], {"systemPrompt": "Be kind"})


async def test_a_list_has_the_first_answers() -> None:
    agent = ScriptedAgent("hi", session_new=[None, AuthenticationRequired("log in"), RequestError(7, "full")])
    async with connect(agent, Viewer) as session:
        for message in ("log in", "full"):
            with pytest.raises(RemoteError, match=message):
                await session.agent.session_new(cwd="/", mcp_servers=[])
        async with open_session(session.agent, cwd="/") as other:
            assert await other.ask("1") == "hi"


async def test_a_function_answers_by_the_request() -> None:
    async def open_by_folder(request: v1.NewSessionRequest) -> v1.NewSessionResponse | None:
        return v1.NewSessionResponse(session_id="s", meta={"a": 1}) if request.cwd == "/s" else None

    agent = ScriptedAgent("hi", session_new=open_by_folder, session_set_mode=RequestError(7, "no modes today"))
    async with connect(agent, Viewer, cwd="/s") as session:
        assert (session.id, await session.ask("1")) == ("s", "hi")
        assert (await session.agent.session_new(cwd="/t", mcp_servers=[])).session_id != "s"
        with pytest.raises(RemoteError, match="no modes today"):
            await session.agent.session_set_mode(session_id="s", mode_id="ask")


async def test_options_are_the_modes_and_config_options_of_each_session() -> None:
    async with connect(ScriptedAgent(options=[MODES, MODEL]), Viewer) as session:
        assert session.state.current_mode_id == "ask"
        await session.agent.session_set_mode(session_id=session.id, mode_id="code")
        answer = await session.agent.session_set_config_option(session_id=session.id, config_id="model", value="large")
        assert answer.config_options is not None
        assert [option.current_value for option in answer.config_options] == ["code", "large"]


async def test_a_scripted_session_has_the_options_unless_it_has_its_own() -> None:
    own = v1.NewSessionResponse(session_id="own", config_options=[])
    agent = ScriptedAgent(options=[MODES], session_new=[v1.NewSessionResponse(session_id="s"), own])
    async with connect(agent, Viewer) as session:
        assert (session.id, session.state.current_mode_id) == ("s", "ask")
        assert (await session.agent.session_new(cwd="/", mcp_servers=[])).config_options == []


async def test_what_is_neither_advertised_nor_scripted_is_not_answered() -> None:
    async with connect(ScriptedAgent(), Viewer) as session:
        with pytest.raises(MethodNotFound):
            await session.agent.session_set_mode(session_id=session.id, mode_id="code")


async def test_the_response_to_a_prompt_has_meta_and_usage() -> None:
    async def count(turn: Turn) -> None:
        turn.meta = {"cost": 1}
        turn.usage = v1_unstable.Usage(total_tokens=3, input_tokens=1, output_tokens=2)

    async with connect(ScriptedAgent(count), Viewer) as session:
        response = await session.agent.session_prompt(session_id=session.id, prompt=[])
    assert response.model_dump() == {
        "stopReason": "end_turn",
        "_meta": {"cost": 1},
        "usage": {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2},
    }


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({"capabilities": CAPABILITIES}, ValueError, "advertises session/load, which plays the next steps"),
        ({"new_session": None}, TypeError, "No request is called new_session. .*, session_new,"),
        ({"prompt": None}, TypeError, "No request is called prompt"),
        ({"options": "mode"}, TypeError, "options"),
        ({"session_new": "s"}, TypeError, "session_new must be a NewSessionResponse, .*, not 's'"),
        ({"session_new": [None, v1.LoadSessionResponse()]}, TypeError, "session_new must .*, not LoadSessionResponse"),
        ({"session_new": ValueError}, TypeError, "not <class 'ValueError'>"),
    ],
)
def test_a_script_that_can_not_be_played_is_refused(arguments: Any, error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        ScriptedAgent(**arguments)


@pytest.mark.parametrize("steps", [None, 3, b"a", ValueError, ["a", None], v1.PromptResponse(stop_reason="refusal")])
def test_what_is_no_step_is_refused(steps: Any) -> None:
    with pytest.raises(TypeError, match="A step must be a text, an update, an exception, or an async function"):
        ScriptedAgent("a", steps)
