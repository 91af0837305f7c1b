"""Sessions of an agent of version 1 as a client of version 2 sees them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings import v1
from acp_runtime import ResourceNotFound
from tests.support.kit.behind_v2 import (
    PROMPT,
    AgentV1,
    ask,
    connected,
    names,
    request,
    session_of,
    turn,
    update_of,
    without_guards,
)
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import chunk

START = {"replayFrom": {"type": "start"}}
SETUP = {"cwd": "/work"}


class Waiting(AgentV1):
    """An agent whose turns don't end by themselves."""

    async def work(self, session: str) -> None:
        await self.send(session, chunk("let me think"))
        await asyncio.Event().wait()


class Complete(AgentV1):
    """An agent with all methods for sessions."""

    capabilities = v1.AgentCapabilities(
        load_session=True,
        session_capabilities=v1.SessionCapabilities(
            list=v1.SessionListCapabilities(),
            resume=v1.SessionResumeCapabilities(),
            close=v1.SessionCloseCapabilities(),
            delete=v1.SessionDeleteCapabilities(),
        ),
    )

    def __init__(self, client: v1.RemoteClient) -> None:
        super().__init__(client)
        self.calls: list[str] = []

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        self.calls.append("load")
        if request.session_id != "session-1":
            raise ResourceNotFound
        hi = v1.SessionUpdateUserMessageChunk(content=v1.ContentBlockText(text="hi"))
        call = v1.SessionUpdateToolCall(tool_call_id="1", title="Read", status="completed")
        commands = v1.SessionUpdateAvailableCommandsUpdate(available_commands=[])
        await self.send(request.session_id, hi, chunk("he"), chunk("llo"), call, chunk("bye"), commands)
        return v1.LoadSessionResponse()

    async def session_resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        self.calls.append("resume")
        return v1.ResumeSessionResponse()

    async def session_list(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        self.calls.append("list")
        listed = v1.SessionInfo(session_id="old", cwd="/old", title="Old")
        return v1.ListSessionsResponse(sessions=[listed], next_cursor="more")

    async def session_close(self, request: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
        self.calls.append("close")
        return v1.CloseSessionResponse()

    async def session_delete(self, request: v1.DeleteSessionRequest) -> v1.DeleteSessionResponse:
        self.calls.append("delete")
        return v1.DeleteSessionResponse()


class OnlyLoads(Complete):
    may_end: asyncio.Event
    capabilities = v1.AgentCapabilities(load_session=True)


HISTORY = ["user_message_chunk", *2 * ["agent_message_chunk"], "tool_call_update", "agent_message_chunk"]


@pytest.mark.parametrize("agent", [Complete, OnlyLoads])
async def test_resume_from_the_start_replays_the_conversation_before_its_response(agent: Any) -> None:
    async with session_of(agent) as peer:
        for id in (1, 2):
            updates, response = await ask(peer, id, "session/resume", **SETUP, **START)
            assert names(updates) == [*HISTORY, "available_commands_update", "idle"]
            assert updates[1]["messageId"] == updates[2]["messageId"] != updates[4]["messageId"]
            assert updates[3]["toolCallId"] == "1"
            assert response["result"] == {"configOptions": []}


async def test_resume_without_replay_sends_no_history() -> None:
    for agent, expected in ((Complete, ["idle"]), (OnlyLoads, ["available_commands_update", "idle"])):
        async with session_of(agent) as peer:
            for replay in ({}, {"replayFrom": None}):
                updates, response = await ask(peer, 1, "session/resume", **SETUP, **replay)
                assert (names(updates), response["result"]) == (expected, {"configOptions": []})


async def test_resume_of_an_agent_that_can_not_load_keeps_the_sessions_of_this_connection() -> None:
    async with session_of(AgentV1) as peer:
        await turn(peer)
        updates, response = await ask(peer, 2, "session/resume", **SETUP)
        assert (names(updates), response["result"]) == (["idle end_turn"], {"configOptions": []})
        for params in (START, {"sessionId": "other"}):
            updates, response = await ask(peer, 3, "session/resume", **{**SETUP, **params})
            assert (updates, response["error"]["code"]) == ([], -32002)
        assert names(await turn(peer, 4))[-1] == "idle end_turn"


async def test_resume_during_a_turn_says_that_it_runs() -> None:
    async with session_of(Waiting) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        updates, _ = await ask(peer, 2, "session/resume", **SETUP)
        assert names(updates) == ["running"]


@pytest.mark.parametrize("replay", [START, {}])
async def test_a_prompt_during_a_replay_waits_for_its_end(replay: Any) -> None:
    class Slow(OnlyLoads):
        async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
            hi = v1.SessionUpdateUserMessageChunk(content=v1.ContentBlockText(text="hi"))
            await self.send(request.session_id, hi)
            await self.may_end.wait()
            return v1.LoadSessionResponse()

    factory = RecordingFactory(Slow)
    async with session_of(factory) as peer:
        factory.handler.may_end = asyncio.Event()
        await peer.send(request(1, "session/resume", **SETUP, **replay), request(2, "session/prompt", prompt=PROMPT))
        messages = [await peer.receive() for _ in replay]
        assert (await peer.until_quiet(), factory.handler.prompts) == ([], [])
        factory.handler.may_end.set()
        while not any(message.get("id") == 2 for message in messages):
            messages.append(await peer.receive())
        updates = [message["params"]["update"] for message in messages if "params" in message]
        assert names(updates)[len(replay) :] == ["idle", "user_message", "running"]
        assert factory.handler.prompts == ["hi"]


async def test_resume_of_an_unknown_session_is_the_agents_error_and_leaves_nothing() -> None:
    async with session_of(Complete) as peer:
        updates, response = await ask(peer, 1, "session/resume", sessionId="other", **SETUP, **START)
        assert (updates, response["error"]["code"]) == ([], -32002)
        _, response = await ask(peer, 2, "session/prompt", sessionId="other", prompt=PROMPT)
        assert response["error"]["code"] == -32002


async def test_resume_from_a_cursor_that_version_1_does_not_have_is_refused() -> None:
    async with session_of(Complete) as peer:
        updates, response = await ask(peer, 1, "session/resume", **SETUP, replayFrom={"type": "_message"})
        assert (updates, response["error"]["code"]) == ([], -32602)


async def test_list_asks_the_agent_or_has_the_sessions_of_this_connection(caplog: pytest.LogCaptureFixture) -> None:
    async with session_of(Complete) as peer:
        result = (await peer.call("session/list", {}))["result"]
        assert result == {"sessions": [{"sessionId": "old", "cwd": "/old", "title": "Old"}], "nextCursor": "more"}

    class WithoutFolders(Complete):
        async def session_list(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
            cwds = ("", "old", "C:\\old", "/old")
            sessions = [v1.SessionInfo(session_id=cwd or "none", cwd=cwd) for cwd in cwds]
            return v1.ListSessionsResponse(sessions=sessions)

    async with connected(open=without_guards(WithoutFolders)) as (peer, _):
        sessions = (await peer.call("session/list", {}))["result"]["sessions"]
        assert [session["sessionId"] for session in sessions] == ["C:\\old", "/old"]
        assert "Left out 2 listed sessions" in caplog.text

    class Titled(AgentV1):
        async def work(self, session: str) -> None:
            await self.send(session, v1.SessionUpdateSessionInfoUpdate(title="A talk"))

    async with session_of(Titled) as peer:
        await turn(peer)
        await peer.call("session/new", {"cwd": "/other"})
        first = {"sessionId": "session-1", "cwd": "/work", "title": "A talk"}
        result = (await peer.call("session/list", {}))["result"]
        assert result == {"sessions": [first, {"sessionId": "session-2", "cwd": "/other"}]}
        assert (await peer.call("session/list", {"cwd": "/work"}))["result"] == {"sessions": [first]}


async def test_close_reports_idle_cancelled_before_its_response_and_nothing_afterwards() -> None:
    factory = RecordingFactory(Waiting)
    async with session_of(factory) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        updates, response = await ask(peer, 2, "session/close")
        assert (names(updates), response["result"]) == (["idle cancelled"], {})
        await factory.handler.send("session-1", chunk("one more thing"))
        assert await peer.until_quiet() == []
        _, response = await ask(peer, 3, "session/prompt", prompt=PROMPT)
        assert response["error"]["code"] == -32002


async def test_close_does_not_wait_forever_for_an_agent_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn(AgentV1):
        async def session_cancel(self, notification: v1.CancelNotification) -> None:
            pass

        async def work(self, session: str) -> None:
            await self.send(session, chunk("let me think"))
            await asyncio.Event().wait()

    monkeypatch.setattr("acp_kit.versions.agent._CLOSE_DEADLINE", 0.01)
    async with session_of(Stubborn) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        updates, response = await ask(peer, 2, "session/close")
        assert (names(updates), response["result"]) == (["idle cancelled"], {})
        assert await peer.until_quiet() == []


async def test_close_and_delete_reach_an_agent_that_can() -> None:
    factory = RecordingFactory(Complete)
    async with session_of(factory) as peer:
        assert (await ask(peer, 1, "session/close"))[1]["result"] == {}
        assert (await ask(peer, 2, "session/delete"))[1]["result"] == {}
    assert factory.handler.calls == ["close", "delete"]


@pytest.mark.parametrize("agent", [AgentV1, Complete])
async def test_close_of_an_unknown_session_succeeds(agent: Any) -> None:
    async with session_of(agent) as peer:
        assert (await ask(peer, 1, "session/close", sessionId="other"))[1]["result"] == {}
        assert (await ask(peer, 2, "session/prompt", sessionId="other", prompt=PROMPT))[1]["error"]["code"] == -32002


class Slow(Complete):
    """An agent that needs time to end a turn."""

    async def session_cancel(self, notification: v1.CancelNotification) -> None:
        self.may_end.set()

    async def work(self, session: str) -> None:
        self.may_end = asyncio.Event()
        await self.send(session, chunk("let me think"))
        await self.may_end.wait()


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_closing_and_deleting_cancel_the_turn_and_refuse_further_prompts(method: str) -> None:
    factory = RecordingFactory(Slow)
    async with session_of(factory) as peer:
        await ask(peer, 1, "session/prompt", prompt=PROMPT)
        await update_of(peer)
        await peer.send(request(2, method), request(3, "session/prompt", prompt=PROMPT))
        messages = [await peer.receive() for _ in range(3)]
        answers = {message["id"]: message for message in messages if "id" in message}
        assert (answers[2]["result"], answers[3]["error"]["code"]) == ({}, -32800)
        updates = [message["params"]["update"] for message in messages if "id" not in message]
        assert (names(updates), factory.handler.prompts) == (["idle cancelled"], ["hi"])
        assert await peer.until_quiet() == []


async def test_a_session_whose_id_was_closed_and_deleted_is_another_one() -> None:
    class Same(Complete):
        async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id="session-1")

    async with session_of(Same) as peer:
        await ask(peer, 1, "session/close")
        await ask(peer, 2, "session/delete")
        await peer.call("session/new", SETUP)
        assert names(await turn(peer, 3))[-1] == "idle end_turn"


async def test_relative_paths_are_in_the_folder_that_a_session_was_resumed_in() -> None:
    class Relative(Complete):
        async def work(self, session: str) -> None:
            location = v1.ToolCallLocation(path="x")
            await self.send(session, v1.SessionUpdateToolCall(tool_call_id="1", title="Read", locations=[location]))

    async with session_of(open=without_guards(Relative)) as peer:
        await ask(peer, 1, "session/resume", cwd="/other")
        (call,) = [update for update in await turn(peer) if "locations" in update]
        assert call["locations"] == [{"path": "/other/x"}]


async def test_delete_needs_the_agents_capability() -> None:
    async with connected(AgentV1) as (peer, result):
        assert "delete" not in result["capabilities"]["session"]
        assert "error" in await peer.call("session/delete", {"sessionId": "other"})


async def test_updates_during_session_new_come_after_its_response() -> None:
    class Early(AgentV1):
        async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
            response = await super().session_new(request)
            await self.send(response.session_id, v1.SessionUpdateAvailableCommandsUpdate(available_commands=[]))
            return response

    async with connected(Early) as (peer, _):
        assert (await peer.call("session/new", SETUP))["result"]["sessionId"] == "session-1"
        assert names([await update_of(peer)]) == ["available_commands_update"]


async def test_mcp_servers_have_the_fields_that_version_1_requires() -> None:
    requests: list[v1.NewSessionRequest] = []

    class Servers(AgentV1):
        capabilities = v1.AgentCapabilities(mcp_capabilities=v1.McpCapabilities(http=True))

        async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
            requests.append(request)
            return await super().session_new(request)

    stdio = {"type": "stdio", "name": "files", "command": "/bin/files"}
    http = {"type": "http", "name": "web", "url": "https://example.com"}
    async with connected(Servers) as (peer, result):
        assert result["capabilities"]["session"]["mcp"] == {"stdio": {}, "http": {}}
        assert "result" in await peer.call("session/new", {**SETUP, "mcpServers": [stdio, http]})
        refused = await peer.call("session/new", {**SETUP, "mcpServers": [{"type": "_own", "name": "x"}]})
        assert refused["error"]["code"] == -32602
    assert [server.model_dump() for server in requests[0].mcp_servers] == [
        {"name": "files", "command": "/bin/files", "args": [], "env": []},
        {**http, "headers": []},
    ]
