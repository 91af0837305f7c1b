"""Several versions served at the same time: the first message decides, by the rules of `acp_runtime.versions`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import pytest

import acp_bindings
import acp_bindings.v1
from acp_runtime import AuthenticationRequired, Options
from tests.support.programs import run_command
from tests.support.runtime.any_profile import agent_of
from tests.support.runtime.peer import Peer, line
from tests.support.runtime.queue_transport import PeerEnd, QueueTransport, queue_transports

INFO = {"name": "c", "version": "1"}
UNKNOWN = {"name": "unknown", "version": "unknown"}
# What version 1 makes of the capabilities of version 2.
NO_FILES = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
V1: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {"terminal": True}, "clientInfo": INFO}
V2: dict[str, Any] = {"protocolVersion": 2, "capabilities": {"elicitation": {"form": {}}}, "info": INFO}
BOTH = ("v1", "v2_draft")
REFUSED = {"code": -32600}


def telling(profile: str) -> Any:
    """Return an agent that answers `initialize` with the params that it got, in `_meta`."""
    acp = import_module(f"acp_bindings.{profile}")

    class Telling(agent_of(acp)):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            got = request.model_dump(mode="json", by_alias=True, exclude_unset=True)
            return (await super().initialize(request)).model_copy(update={"meta": {"got": got, "profile": profile}})

    return Telling


@asynccontextmanager
async def serving(*profiles: str, factories: Any = None, **options: Any) -> AsyncIterator[tuple[Peer, QueueTransport]]:
    """Serve these profiles over a transport. Yield the raw client, and the transport."""
    ours, theirs = queue_transports()
    agents = factories or {profile: telling(profile) for profile in profiles}
    running = asyncio.create_task(acp_bindings.serve(ours, options=Options(**options), **agents))
    end = PeerEnd(theirs, 2)
    peer = Peer(end, end)
    try:
        yield peer, ours
        await peer.end()
        await running
    finally:
        running.cancel()
        await peer.stop()


def request(method: str = "initialize", params: Any = None, id: Any = 1) -> dict[str, Any]:
    return {"id": id, "method": method, "params": params}


@pytest.mark.parametrize(
    ("served", "params", "profile", "got"),
    [
        pytest.param(BOTH, V1, "v1", V1, id="the-first-version"),
        pytest.param(BOTH, V2, "v2_draft", V2, id="the-second-version"),
        pytest.param(("v1_unstable", "v2_draft_unstable"), V1, "v1_unstable", V1, id="unstable-1"),
        pytest.param(("v1_unstable", "v2_draft_unstable"), V2, "v2_draft_unstable", V2, id="unstable-2"),
        pytest.param(
            BOTH, {**V2, "protocolVersion": 3, "new": 1}, "v2_draft", {**V2, "new": 1}, id="the-highest-not-above"
        ),
        pytest.param(
            BOTH, {"protocolVersion": 65535}, "v2_draft", {"protocolVersion": 2, "info": UNKNOWN}, id="info-is-missing"
        ),
        pytest.param(
            BOTH,
            {"protocolVersion": 3, "info": {"name": 1}},
            "v2_draft",
            {"protocolVersion": 2, "info": UNKNOWN},
            id="info-has-changed",
        ),
        pytest.param(("v1",), {**V1, "protocolVersion": 0}, "v1", {**V1, "protocolVersion": 0}, id="legacy"),
        pytest.param(("v1",), {**V1, "protocolVersion": 9}, "v1", V1, id="version-1-in-its-own-shape"),
        pytest.param(
            ("v1",),
            V2,
            "v1",
            {"protocolVersion": 1, "clientCapabilities": {**V2["capabilities"], **NO_FILES}, "clientInfo": INFO},
            id="version-2-as-version-1",
        ),
        pytest.param(
            ("v1",),
            {"protocolVersion": 2, "capabilities": {"fs": {"readTextFile": True}, "terminal": True}},
            "v1",
            {"protocolVersion": 1, "clientCapabilities": NO_FILES},
            id="version-2-has-no-files-and-terminals",
        ),
        pytest.param(
            ("v1",),
            {"protocolVersion": 2, "capabilities": 7, "info": INFO},
            "v1",
            {"protocolVersion": 1, "clientCapabilities": NO_FILES, "clientInfo": INFO},
            id="invalid-capabilities-give-way",
        ),
        pytest.param(
            ("v1",),
            {**V2, "clientCapabilities": {"terminal": True}},
            "v1",
            {"protocolVersion": 1, "clientCapabilities": {"terminal": True}, "clientInfo": INFO},
            id="what-names-version-1-stays",
        ),
        pytest.param(BOTH, {**V1, "info": INFO}, "v1", {**V1, "info": INFO}, id="an-exact-request-is-not-changed"),
    ],
)
async def test_rule_26_the_first_message_chooses_the_version_and_the_params_fit_it(
    served: tuple[str, ...], params: Any, profile: str, got: Any
) -> None:
    async with serving(*served) as (peer, _):
        result = (await peer.call("initialize", params))["result"]
        assert result["protocolVersion"] == int(profile[1])
        assert result["_meta"]["profile"] == profile
        assert result["_meta"]["got"] == got
        assert (await peer.call("session/new", {"cwd": "/", "mcpServers": []}))["result"]["sessionId"] == "s1"


@pytest.mark.parametrize(
    ("served", "sent", "error"),
    [
        pytest.param(BOTH, request("session/new", {"cwd": "/"}), REFUSED, id="a-request"),
        pytest.param(BOTH, request("session/new", 5), REFUSED, id="an-invalid-request"),
        pytest.param(BOTH, request("no/such"), REFUSED, id="an-unknown-request"),
        pytest.param(BOTH, request("_acme/ping", {}), REFUSED, id="a-request-of-an-extension"),
        pytest.param(BOTH, [request(params=V1)], {**REFUSED, "id": None}, id="an-array"),
        pytest.param(("v2_draft",), [request(params=V2)], {**REFUSED, "id": None}, id="an-array-for-version-2"),
        pytest.param(BOTH, b"[]\n", {**REFUSED, "id": None}, id="an-empty-array"),
        pytest.param(BOTH, b"{}\n", {**REFUSED, "id": None}, id="an-object"),
        pytest.param(BOTH, b"{\n", {"code": -32700, "id": None}, id="no-json"),
        pytest.param(BOTH, request(), {"code": -32602}, id="no-params"),
        pytest.param(BOTH, request(params=[2]), {"code": -32602}, id="params-in-an-array"),
        pytest.param(BOTH, request(params={}), {"code": -32602}, id="no-version"),
        *(
            pytest.param(
                BOTH, request(params={**V2, "protocolVersion": version}), {"code": -32602}, id=f"version-{version}"
            )
            for version in (True, "2", 1.5, -1, 65536, None, [2])
        ),
        pytest.param(BOTH, request(params={**V2, "info": 1}), {"code": -32602}, id="version-2-is-judged-strictly"),
        pytest.param(BOTH, request(params={"protocolVersion": 2}), {"code": -32602}, id="version-2-without-info"),
        pytest.param(BOTH, request(params=V2, id=None), {**REFUSED, "id": None}, id="a-null-id-in-version-2"),
        pytest.param(
            BOTH,
            request(params={**V1, "protocolVersion": 0}),
            {"code": -32022, "data": {"requested": 0, "supported": [1, 2]}},
            id="below-all-versions",
        ),
        pytest.param(
            ("v2_draft",),
            request(params=V1),
            {"code": -32022, "data": {"requested": 1, "supported": [2]}},
            id="below-the-only-version",
        ),
    ],
)
async def test_rule_26_anything_else_gets_an_error_and_the_client_may_try_again(
    served: tuple[str, ...], sent: Any, error: dict[str, Any]
) -> None:
    async with serving(*served) as (peer, _):
        for _ in range(2):
            await peer.send(sent)
            answer = await peer.receive()
            assert answer["id"] == error.get("id", 1)
            assert {name: value for name, value in error.items() if name != "id"}.items() <= answer["error"].items()
        assert (await peer.call("initialize", V2))["result"]["protocolVersion"] == 2


@pytest.mark.parametrize(
    "ignored",
    [
        {"method": "session/cancel", "params": {"sessionId": "s"}},
        {"method": "session/cancel", "params": 5},
        {"method": "initialize", "params": V1},
        {"method": "$/cancel_request", "params": {"requestId": 1}},
        {"method": "_acme/note"},
        {"method": "no/such"},
        {"id": 5, "result": {}},
        {"id": None, "error": {"code": 1, "message": "m"}},
        b"\n",
    ],
    ids=str,
)
async def test_rule_26_notifications_and_responses_before_initialize_are_ignored(ignored: Any) -> None:
    async with serving(*BOTH) as (peer, _):
        await peer.send(ignored)
        assert (await peer.call("initialize", V1))["result"]["protocolVersion"] == 1


async def test_rule_26_a_null_id_is_an_id_in_version_1() -> None:
    async with serving(*BOTH) as (peer, _):
        await peer.send(request(params=V1, id=None))
        answer = await peer.receive()
        assert answer["id"] is None
        assert answer["result"]["protocolVersion"] == 1


async def test_rule_26_after_a_valid_initialize_nothing_is_routed_again() -> None:
    async with serving(*BOTH) as (peer, _):
        await peer.call("initialize", V1)
        assert (await peer.call("initialize", V2))["result"]["protocolVersion"] == 1
    async with serving(*BOTH) as (peer, _):
        await peer.call("initialize", V2)
        assert (await peer.call("initialize", V1))["error"]["code"] == -32022


async def test_rule_26_without_guards_the_lowest_version_answers_lower_requests() -> None:
    async with serving("v2_draft", guards="off") as (peer, _):
        params: dict[str, Any] = {**V2, "protocolVersion": 1}
        assert (await peer.call("initialize", params))["result"]["protocolVersion"] == 2


async def test_messages_that_come_together_are_handled_in_the_chosen_version_and_seen_once() -> None:
    seen: list[tuple[str, Any]] = []

    def see(direction: str, line: bytes, _: float) -> None:
        seen.append((direction, json.loads(line).get("id")))

    # Version 1 requires `mcpServers`.
    together = [request("no/such", id=1), request(params=V2, id=2), request("session/new", {"cwd": "/"}, id=3)]
    async with serving(*BOTH, on_frame=see) as (peer, _):
        await peer.send(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in together))
        answers = {answer.get("id"): answer for answer in [await peer.receive() for _ in range(3)]}
    assert answers[1]["error"]["code"] == -32600
    assert answers[2]["result"]["protocolVersion"] == 2
    assert answers[3]["result"] == {"sessionId": "s1"}
    assert [id for direction, id in seen if direction == "in"] == [1, 2, 3]
    assert sorted(id for direction, id in seen if direction == "out" and id is not None) == [1, 2, 3]


async def test_an_agent_ends_when_its_client_leaves_without_initialize() -> None:
    async with serving(*BOTH) as (peer, transport):
        await peer.send(b"{\n")
        await peer.end()
        assert [answer["error"]["code"] for answer in await peer.rest()] == [-32700]
    assert transport.closed == 1


class Stop(BaseException):
    """Not an Exception, as pytest's own errors aren't."""


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize(
    ("error", "raised", "code", "is_logged"),
    [
        (ZeroDivisionError(), ZeroDivisionError, -32603, False),
        (AuthenticationRequired(), AuthenticationRequired, -32000, False),
        (asyncio.CancelledError(), RuntimeError, -32603, True),
        (Stop(), Stop, -32603, True),
    ],
    ids=repr,
)
@pytest.mark.parametrize("profiles", [["v1"], ["v1", "v2_draft"]], ids=len)
async def test_what_a_factory_raises_answers_the_client_and_is_raised(
    profiles: list[str],
    leaves: bool,
    error: BaseException,
    raised: type[BaseException],
    code: int,
    is_logged: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = list[Any]()

    def fail(proxy: Any) -> Any:
        calls.append(proxy)
        raise error

    factories = {profile: telling(profile) for profile in profiles} | {profiles[-1]: fail}
    with pytest.raises(raised):
        async with serving(factories=factories) as (peer, transport):
            peer.writer.write(line(request(params=V2)) * 2)
            if leaves:
                await peer.end()
            assert [answer["error"]["code"] for answer in await peer.rest()] == [code]
    assert (transport.closed, len(calls)) == (1, 1)
    logged = [(record.getMessage(), record.exc_info and record.exc_info[1]) for record in caplog.records]
    assert logged == [("The factory of the agent failed", error)] * is_logged


async def test_serving_one_profile_answers_requests_that_have_arrived_if_the_factory_raises() -> None:
    def fail(_: Any) -> Any:
        raise AuthenticationRequired

    ours, theirs = queue_transports()
    async with PeerEnd(theirs, 2) as end:
        peer = Peer(end, end)
        await peer.send(request(params=V1), request("session/new", id=2))
        with pytest.raises(AuthenticationRequired):
            await acp_bindings.v1.serve(fail, ours)
        assert [(answer["id"], answer["error"]["code"]) for answer in await peer.rest()] == [(1, -32000), (2, -32000)]
    assert ours.closed == 1


@pytest.mark.parametrize("profiles", [(), ("v1", "v1_unstable"), ("v2_draft", "v1", "v2_draft_unstable")])
async def test_one_profile_of_each_version_can_be_served_or_offered(profiles: tuple[str, ...]) -> None:
    ours, _ = queue_transports()
    given: dict[str, Any] = {profile: telling(profile) for profile in profiles}
    for call in (lambda: acp_bindings.serve(ours, **given), lambda: acp_bindings.serve_stdio(**given)):
        with pytest.raises(TypeError, match="only one for each version"):
            await call()
    with pytest.raises(TypeError, match="only one for each version"):
        acp_bindings.spawn_agent("no-such-agent", **given)


def test_importing_the_package_loads_nothing_until_one_of_its_functions_is_used() -> None:
    program = (
        "import sys, acp_bindings\n"
        "assert not [each for each in sys.modules if each.startswith(('acp_runtime', 'pydantic'))]\n"
        "from acp_bindings.v1 import serve_stdio\n"
        "assert not [each for each in sys.modules if each.endswith('.versions') or 'v2' in each]\n"
    )
    run_command(sys.executable, "-c", program)
