"""Rule 17: updates of a session that is being created are sent right after the response that names it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from acp_bindings import v1_unstable
from acp_bindings.v1 import (
    InitializeRequest,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    SessionNotification,
    connect_in_process,
)
from acp_bindings.v1_unstable.connecting import AGENT_SIDE as UNSTABLE_AGENT_SIDE
from acp_runtime import GuardError, RequestError
from tests.support.runtime.any_profile import agent_of
from tests.support.runtime.peer import LINKS, Link, Peer, PlainAgent, PlainClient, chunk, prompt, serving, text_of

NEW: dict[str, Any] = {"cwd": "/", "mcpServers": []}
CREATE: dict[str, Any] = {"id": "n", "method": "session/new", "params": NEW}
Create = Callable[["Creating", NewSessionRequest], Awaitable[str]]


class Creating(PlainAgent):
    """An agent that creates sessions with a function."""

    def __init__(self, client: RemoteClient, create: Create) -> None:
        super().__init__(client)
        self.create = create
        self.gate = asyncio.Event()
        self.tasks: list[asyncio.Task[Any]] = []

    async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
        capabilities: dict[str, Any] = {"sessionCapabilities": {"close": {}}, "loadSession": True}
        return InitializeResponse.model_validate({"protocolVersion": 1, "agentCapabilities": capabilities})

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        return NewSessionResponse(session_id=await self.create(self, request))

    async def session_close(self, request: Any, /) -> Any:
        if request.session_id == "busy":
            raise RequestError(1, "busy")
        return None

    async def session_load(self, request: Any, /) -> Any:
        return LoadSessionResponse()

    async def say(self, session: str, *texts: str) -> None:
        for text in texts:
            await self.client.session_update(session_id=session, update=chunk(text))

    async def ext_request(self, method: str, params: Any) -> Any:
        if method == "_go":
            self.gate.set()
        else:
            await self.say(*params)


def agent(create: Create) -> Any:
    return lambda client: Creating(client, create)


def short(message: Any) -> str:
    """Return `<session> <text>` for an update, `<id>` or `<id> error` for a response, and the method for the rest."""
    if "id" in message and "method" not in message:
        return f"{message['id']}{' error' if 'error' in message else ''}"
    params = message.get("params") or {}
    if message["method"] != "session/update":
        return str(message["method"])
    return f"{params['sessionId']} {params['update']['content']['text']}"


async def sent(peer: Peer, count: int) -> list[str]:
    messages = [short(await peer.receive()) for _ in range(count)]
    assert await peer.until_quiet() == []
    return messages


async def test_rule_17_updates_of_a_new_session_follow_its_response_in_order(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("new", "1", "2", "3")
        return "new"

    async with serving(link, agent(create)) as peer:
        await peer.send(CREATE)
        assert await sent(peer, 4) == ["n", "new 1", "new 2", "new 3"]


async def test_rule_17_updates_of_other_sessions_and_requests_are_not_held(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("known", "1")
        await self.say("new", "held")
        await self.say("known", "2")
        await self.client.ext_request("_ask", {"sessionId": "new"})
        return "new"

    async with serving(link, agent(create)) as peer:
        await peer.call("session/prompt", prompt(1, "known")["params"])
        await peer.send(CREATE)
        assert [short(await peer.receive()) for _ in range(2)] == ["known 1", "known 2"]
        asked = await peer.receive()
        assert asked["method"] == "_ask"
        await peer.send({"id": asked["id"], "result": None})
        assert await sent(peer, 2) == ["n", "new held"]


async def test_rule_17_updates_of_a_session_that_has_created_a_terminal_are_not_held(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.client.terminal_create(session_id="known", command="make")
        await self.say("known", "1")
        return "new"

    async with serving(link, agent(create), guards="off") as peer:
        await peer.call("session/prompt", prompt(1, "known")["params"])
        await peer.send(CREATE)
        await peer.answer(result={"terminalId": "t"})
        assert await sent(peer, 2) == ["known 1", "n"]


@pytest.mark.parametrize("session", ["s1", "s" * 10_000], ids=["a short id", "a long id"])
async def test_rule_17_updates_of_a_recently_used_session_are_not_held(session: str) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.gate.wait()
        raise ValueError

    async with serving(LINKS["memory"], agent(create)) as peer:
        await peer.send(CREATE)
        for used in (session, *map(str, range(4000)), session, *map(str, range(4000, 4200))):
            await peer.call("session/prompt", prompt(0, used)["params"])
        await peer.send({"id": 1, "method": "_say", "params": [session, "1"]})
        assert await sent(peer, 2) == [f"{session} 1", "1"]
        await peer.send({"id": 2, "method": "_go"})


async def test_rule_17_extension_notifications_are_held_by_their_session(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.client.ext_notification("_note", {"sessionId": "new"})
        await self.client.ext_notification("_free", {"session": "new"})
        await self.say("new", "1")
        return "new"

    async with serving(link, agent(create)) as peer:
        await peer.send(CREATE)
        assert await sent(peer, 4) == ["_free", "n", "_note", "new 1"]


async def test_rule_17_a_held_notification_that_is_not_json_raises_at_once(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        with pytest.raises(ValueError, match=r"(?i)infinity|finite"):
            await self.client.ext_notification("_note", {"sessionId": "new", "n": float("inf")})
        await self.say("new", "1")
        return "new"

    async with serving(link, agent(create)) as peer:
        await peer.send(CREATE)
        assert await sent(peer, 2) == ["n", "new 1"]


@pytest.mark.parametrize("error", [RequestError(5, "no"), ValueError(), asyncio.CancelledError()])
async def test_rule_17_updates_of_a_session_whose_creation_fails_are_dropped_with_a_warning(
    link: Link, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("new", "1", "2")
        raise error

    async with serving(link, agent(create)) as peer:
        await peer.send(CREATE)
        assert await sent(peer, 1) == ["n error"]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == ["Dropped 2 notifications to a session that was not created"]


async def test_rule_17_concurrent_creations_hold_their_own_updates(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        name = request.cwd[1:]
        await self.say(name, "1")
        await self.client.ext_notification("_ready")
        if name == "a":
            await self.gate.wait()
        await self.say(name, "2")
        return name

    async with serving(link, agent(create)) as peer:
        await peer.send({**CREATE, "id": "a", "params": {**NEW, "cwd": "/a"}})
        assert short(await peer.receive()) == "_ready"
        await peer.send({**CREATE, "id": "b", "params": {**NEW, "cwd": "/b"}})
        assert await sent(peer, 4) == ["_ready", "b", "b 1", "b 2"]
        await peer.send({"method": "_go", "id": "g"})
        messages = await sent(peer, 4)
        assert [item for item in messages if item != "g"] == ["a", "a 1", "a 2"]


def gated(may_end: dict[str, asyncio.Event], fails: str = "") -> Create:
    """Return a function that sends an update of its own, waits, and creates the session named like its folder."""

    async def create(self: Creating, request: NewSessionRequest) -> str:
        name = request.cwd[1:]
        await self.say(f"{name}'s child", "1")
        await self.client.ext_notification("_ready")
        await may_end[name].wait()
        if name == fails:
            raise ValueError
        return name

    return create


async def begin(peer: Peer, *names: str) -> None:
    """Begin to create sessions, and let other handlers send an update for each and for one more."""
    for name in names:
        await peer.send({**CREATE, "id": name, "params": {**NEW, "cwd": f"/{name}"}})
        assert short(await peer.receive()) == "_ready"
    for session in (*names, "other"):
        await peer.send({"id": "say", "method": "_say", "params": [session, "2"]})
        assert await sent(peer, 1) == ["say"]


async def test_rule_17_a_response_sends_updates_of_its_session_and_its_handler(link: Link) -> None:
    may_end = {"a": asyncio.Event(), "b": asyncio.Event()}
    async with serving(link, agent(gated(may_end))) as peer:
        await begin(peer, "a", "b")
        may_end["b"].set()
        assert await sent(peer, 3) == ["b", "b's child 1", "b 2"]
        may_end["a"].set()
        assert await sent(peer, 4) == ["a", "a's child 1", "a 2", "other 2"]


async def test_rule_17_a_failed_creation_drops_the_updates_of_its_handler(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    may_end = {"a": asyncio.Event(), "b": asyncio.Event()}
    async with serving(link, agent(gated(may_end, fails="b"))) as peer:
        await begin(peer, "a", "b")
        may_end["b"].set()
        assert await sent(peer, 1) == ["b error"]
        may_end["a"].set()
        assert await sent(peer, 5) == ["a", "a's child 1", "a 2", "b 2", "other 2"]
    assert "Dropped 1 notifications to a session that was not created" in caplog.messages


async def test_rule_17_the_last_creation_that_fails_drops_all_that_is_held(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    may_end = {"a": asyncio.Event(), "b": asyncio.Event()}
    async with serving(link, agent(gated(may_end, fails="a"))) as peer:
        await begin(peer, "a")
        may_end["a"].set()
        assert await sent(peer, 1) == ["a error"]
        await begin(peer, "b")
        may_end["b"].set()
        assert await sent(peer, 4) == ["b", "b's child 1", "b 2", "other 2"]
    assert "Dropped 3 notifications to a session that was not created" in caplog.messages


async def test_rule_17_sent_notifications_no_longer_count_towards_the_limit(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say(request.cwd, "x" * 600)
        return request.cwd

    async with serving(link, agent(create), max_held_bytes=1000) as peer:
        for folder in ("/a", "/b"):
            await peer.send({**CREATE, "params": {**NEW, "cwd": folder}})
            assert await sent(peer, 2) == ["n", f"{folder} {'x' * 600}"]


async def test_rule_17_sending_beyond_the_limit_raises_and_the_rest_is_sent(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("new", "1")
        with pytest.raises(GuardError, match="max_held_bytes"):
            await self.say("new", "x" * 2000)
        await self.say("new", "2")
        return "new"

    async with serving(link, agent(create), max_held_bytes=1000) as peer:
        await peer.send(CREATE)
        assert await sent(peer, 3) == ["n", "new 1", "new 2"]


async def test_rule_17_updates_of_a_closed_session_are_held_if_it_is_created_again(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("again", "1")
        return "again"

    async with serving(link, agent(create)) as peer:
        for _ in range(2):
            await peer.send(CREATE)
            assert await sent(peer, 2) == ["n", "again 1"]
            assert "result" in await peer.call("session/close", {"sessionId": "again"})


async def test_rule_17_held_updates_are_sent_when_the_client_uses_the_session(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("old", "1")
        await self.client.ext_notification("_ready")
        await self.gate.wait()
        return "new"

    async with serving(link, agent(create)) as peer:
        await peer.send(CREATE)
        assert short(await peer.receive()) == "_ready"
        await peer.send({"id": "l", "method": "session/load", "params": {**NEW, "sessionId": "old"}})
        assert await sent(peer, 2) == ["old 1", "l"]
        await peer.send({"id": "s", "method": "_say", "params": ["old", "2"]})
        assert await sent(peer, 2) == ["old 2", "s"]
        await peer.send({"id": "g", "method": "_go"})
        assert sorted(await sent(peer, 2)) == ["g", "n"]


async def test_rule_17_updates_of_a_forked_session_follow_its_response(link: Link) -> None:
    class Forking(agent_of(v1_unstable)):  # type: ignore[misc]
        async def session_fork(self, request: Any, /) -> Any:
            for session in (request.session_id, "fork"):
                await self.client.ext_notification("_in", {"sessionId": session})
            return v1_unstable.ForkSessionResponse(session_id="fork")

    async with serving(link, Forking, side=UNSTABLE_AGENT_SIDE) as peer:
        await peer.send({"id": "f", "method": "session/fork", "params": {**NEW, "sessionId": "old"}})
        messages = [await peer.receive() for _ in range(3)]
    assert [message.get("id") or message["params"]["sessionId"] for message in messages] == ["old", "f", "fork"]


async def test_rule_17_a_client_handles_the_updates_after_it_has_the_session() -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("new", *map(str, range(20)))
        return "new"

    class Recording(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            seen.append(text_of(notification))

    seen: list[str] = []
    async with connect_in_process(agent(create), Recording) as remote:
        await remote.initialize(protocol_version=1)
        for _ in range(3):
            created = await asyncio.wait_for(remote.session_new(cwd="/", mcp_servers=[]), 30)
            assert created.session_id == "new"
            assert seen == []
            await remote.session_prompt(session_id="new", prompt=[])
            assert seen == list(map(str, range(20)))
            seen.clear()
            await remote.session_close(session_id="new")


async def test_rule_17_a_created_session_without_an_id_is_an_error_and_delays_nothing(link: Link) -> None:
    class Nameless(PlainAgent):
        async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
            return NewSessionResponse.model_construct()

        async def ext_request(self, method: str, params: Any) -> Any:
            await self.client.session_update(session_id="unheard", update=chunk("1"))

    async with serving(link, Nameless) as peer:
        await peer.send(CREATE)
        assert (await peer.receive())["error"]["code"] == -32603
        await peer.send({"id": "s", "method": "_say"})
        assert await sent(peer, 2) == ["unheard 1", "s"]


async def test_rule_17_updates_of_a_created_session_are_not_held_while_another_is_created(link: Link) -> None:
    may_end = asyncio.Event()

    class Counting(PlainAgent):
        created = 0

        async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
            self.created += 1
            if self.created == 2:
                await self.client.session_update(session_id="1", update=chunk("x"))
                await may_end.wait()
            return NewSessionResponse(session_id=str(self.created))

    async with serving(link, Counting) as peer:
        await peer.call("session/new", NEW)
        await peer.send(CREATE)
        assert (await peer.receive())["method"] == "session/update"
        may_end.set()
        assert (await peer.receive())["id"] == "n"


async def test_rule_17_the_end_of_another_request_drops_no_update_that_it_has_sent(link: Link) -> None:
    class Prompted(Creating):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await self.say("new", "1")
            return await super().session_prompt(request)

    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.gate.wait()
        return "new"

    async with serving(link, lambda client: Prompted(client, create)) as peer:
        await peer.send(CREATE, prompt("p", "known"))
        assert await sent(peer, 1) == ["p"]
        await peer.send({"id": "g", "method": "_go"})
        messages = [await peer.receive(), await peer.receive(), *await peer.until_quiet()]
        assert [short(message) for message in messages if message.get("id") != "g"] == ["n", "new 1"]


async def test_rule_17_updates_of_a_session_that_could_not_be_closed_are_not_held(link: Link) -> None:
    async def create(self: Creating, request: NewSessionRequest) -> str:
        await self.say("busy", "1")
        return "new"

    async with serving(link, agent(create)) as peer:
        assert "error" in await peer.call("session/close", {"sessionId": "busy"})
        await peer.send(CREATE)
        assert await sent(peer, 2) == ["busy 1", "n"]
