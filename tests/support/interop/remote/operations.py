"""What a client and an agent do over a remote transport: one thing in each operation, which raises if it fails."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.interop.their_client import RESPONSES, SCRIPT, PeerError, TheirClient

LOAD: dict[str, Any] = {"sessionId": "old", "cwd": "/tmp", "mcpServers": []}
CANCELLED = {"outcome": {"outcome": "cancelled"}}
MEBIBYTE = 1024 * 1024
ORDER_OF_PROMPT = "`session/prompt`: all updates before the answer"
ORDER_OF_LOAD = "`session/load`: all updates before the answer"


async def initialize(client: TheirClient) -> None:
    assert client.initialized["protocolVersion"] == 1, "another version"
    assert client.initialized["agentInfo"] == SCRIPT["agentInfo"], "another agentInfo"


async def new_session(client: TheirClient) -> None:
    session = await client.call("session/new", {"cwd": "/tmp", "mcpServers": SCRIPT["mcpServers"]})
    assert session["_meta"]["received"]["mcpServers"] == SCRIPT["mcpServers"], "other MCP servers"


async def updates(client: TheirClient) -> None:
    assert (await client.prompt("stream 200"))["stopReason"] == "end_turn", "another stop reason"
    assert await client.said(200) == [str(each) for each in range(200)], "updates missing or in another order"


async def order_of_prompt(client: TheirClient) -> None:
    await client.prompt("stream 20")
    assert client.texts() == [str(each) for each in range(20)], "updates missing or in another order"


async def content(client: TheirClient) -> None:
    prompt = [{"type": "text", "text": "dump"}, *SCRIPT["content"]]
    await client.call("session/prompt", {"sessionId": "new", "prompt": prompt})
    assert json.loads((await client.said())[0]) == prompt, "other content"


async def large_message(client: TheirClient) -> None:
    prompt = [{"type": "text", "text": "dump"}, {"type": "text", "text": "x" * 2 * MEBIBYTE}]
    await client.call("session/prompt", {"sessionId": "new", "prompt": prompt})
    assert json.loads((await client.said())[0]) == prompt, "another text"


async def permission(client: TheirClient) -> None:
    assert (await client.prompt("permission"))["stopReason"] == "end_turn", "another stop reason"
    assert client.requests() == [("session/request_permission", {"sessionId": "new", **SCRIPT["permission"]})]
    await client.said()
    assert [each.get("status") for each in client.updates()] == ["pending", "completed", None], "another status"


async def cancel_permission(client: TheirClient) -> None:
    await client.set_responses({"session/request_permission": {"cancelled": CANCELLED}})
    turn = asyncio.create_task(client.prompt("permission"))
    await client.until("session/request_permission")
    await client.notify("session/cancel", {"sessionId": "new"})
    assert (await turn)["stopReason"] == "cancelled", "another stop reason"


async def cancel(client: TheirClient) -> None:
    turn = asyncio.create_task(client.prompt("wait"))
    await client.until("waiting")
    await client.notify("session/cancel", {"sessionId": "new"})
    assert (await turn)["stopReason"] == "cancelled", "another stop reason"
    assert (await client.prompt("stream 1"))["stopReason"] == "end_turn", "another stop reason in the next turn"


async def files(client: TheirClient) -> None:
    await client.prompt("read /etc/file")
    await client.prompt("write /etc/file héllo")
    assert await client.said(2) == ["second line\n", "written"], "other answers"
    assert [method for method, _ in client.requests()] == ["fs/read_text_file", "fs/write_text_file"]


async def terminal(client: TheirClient) -> None:
    await client.prompt("terminal")
    await client.said()
    methods = [f"terminal/{each}" for each in ("create", "output", "kill", "wait_for_exit", "release")]
    assert [method for method, _ in client.requests()] == methods, "other requests"


async def load(client: TheirClient) -> None:
    loaded = await client.call("session/load", LOAD)
    assert loaded["modes"] == SCRIPT["modes"], "other modes"
    await client.until("Three lines.")


async def order_of_load(client: TheirClient) -> None:
    await client.call("session/load", LOAD)
    assert client.updates() == SCRIPT["history"], "updates missing or in another order"


async def prompt_after_load(client: TheirClient) -> None:
    await client.call("session/load", LOAD)
    prompt = [{"type": "text", "text": "permission"}]
    answer = await client.call("session/prompt", {"sessionId": "old", "prompt": prompt})
    assert answer["stopReason"] == "end_turn", "another stop reason"


async def load_of_missing(client: TheirClient) -> None:
    await fails(client.call("session/load", {**LOAD, "sessionId": "nowhere"}), -32002)
    assert (await client.prompt("stream 1"))["stopReason"] == "end_turn", "the other session has ended"


async def resume(client: TheirClient) -> None:
    resumed = await client.call("session/resume", LOAD)
    assert resumed["modes"] == SCRIPT["modes"], "other modes"
    prompt = [{"type": "text", "text": "stream 1"}]
    await client.call("session/prompt", {"sessionId": "old", "prompt": prompt})
    assert await client.said() == ["0"], "another update"


async def close(client: TheirClient) -> None:
    await client.call("session/load", LOAD)
    await client.call("session/close", {"sessionId": "old"})
    assert (await client.prompt("stream 1"))["stopReason"] == "end_turn", "the other session has ended"


async def list_sessions(client: TheirClient) -> None:
    first = await client.call("session/list", {})
    rest = await client.call("session/list", {"cursor": first["nextCursor"]})
    assert [*first["sessions"], *rest["sessions"]] == SCRIPT["sessions"], "other sessions"


async def set_mode(client: TheirClient) -> None:
    await client.call("session/set_mode", {"sessionId": "new", "modeId": "code"})
    await client.until("session/update")
    assert client.updates() == [{"sessionUpdate": "current_mode_update", "currentModeId": "code"}], "another update"


async def error_of_agent(client: TheirClient) -> None:
    assert await fails(client.prompt("error"), SCRIPT["error"]["code"]) == SCRIPT["error"], "another error"
    assert (await client.prompt("stream 1"))["stopReason"] == "end_turn", "another stop reason"


async def error_of_client(client: TheirClient) -> None:
    await client.set_responses({"fs/read_text_file": {"error": SCRIPT["error"]}})
    await client.prompt("read /missing")
    assert json.loads((await client.said())[0]) == SCRIPT["error"], "another error"


async def unknown_methods(client: TheirClient) -> None:
    await fails(client.call("_interop/unknown", {}), -32601)
    await client.prompt("unknown")
    assert await client.said() == ["-32601"], "another error"


async def extensions(client: TheirClient) -> None:
    await client.notify("_interop/note", {"n": None})
    echo = await client.call("_interop/echo", {"x": [1, "é", None]})
    assert echo["notifications"] == [["_interop/note", {"n": None}]], "other notifications"
    await client.prompt("ext")
    await client.said()
    assert client.events[:2] == [("_interop/note", {"n": 1}), ("_interop/ask", {"x": [1, None]})], "other messages"


async def fails(call: Awaitable[Any], code: int) -> Any:
    """Return the error of a call."""
    try:
        await call
    except PeerError as error:
        if error.code != code:
            raise
        return error.error
    raise AssertionError("no error")


OPERATIONS: dict[str, Callable[[TheirClient], Awaitable[None]]] = {
    "`initialize`": initialize,
    "`session/new`": new_session,
    "`session/prompt` with 200 updates": updates,
    ORDER_OF_PROMPT: order_of_prompt,
    "a prompt with images, links and files": content,
    "2 MiB in a prompt and in an update": large_message,
    "permission": permission,
    "`session/cancel`": cancel,
    "`session/cancel` during a permission": cancel_permission,
    "files of the client": files,
    "terminals of the client": terminal,
    "`session/load`": load,
    ORDER_OF_LOAD: order_of_load,
    "`session/load`, then a prompt with permission": prompt_after_load,
    "`session/load` of a missing session": load_of_missing,
    "`session/resume`, then a prompt": resume,
    "`session/close`": close,
    "`session/list`": list_sessions,
    "`session/set_mode` with its update": set_mode,
    "an error of the agent": error_of_agent,
    "an error of the client": error_of_client,
    "unknown methods": unknown_methods,
    "extension methods in both directions": extensions,
}
_STARTING = 60  # seconds for a client to start and to open a session
_SECONDS = 10  # after which an operation has no answer
_URL = re.compile(r"(http|ws)://\S+")


async def outcome(client: TheirClient, operation: str) -> str:
    """Return `works`, or how an operation fails on a new connection."""
    try:
        async with asyncio.timeout(_STARTING):
            await client.initialize()
            await client.set_responses(RESPONSES)
            assert (await client.call("session/new", {"cwd": "/tmp", "mcpServers": []}))["sessionId"] == "new"
            client.events.clear()
        async with asyncio.timeout(_SECONDS):
            await OPERATIONS[operation](client)
    except TimeoutError:
        return "no answer"
    except PeerError as error:
        message = _URL.sub("the agent", error.error["message"])
        return f"{message} ({error.code})" if error.code else message
    except AssertionError as error:
        return str(error).splitlines()[0] if str(error) else "other messages"
    return "works"
