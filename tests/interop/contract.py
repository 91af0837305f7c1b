"""What a client and an agent do together, whichever SDKs they are written with: one thing in each case.

A case raises if it fails. `driver.py` says how a case makes the client act. A prompt makes the agent act: its text is a
JSON list of what to do, one after the other:

* `{"call", "params"}` and `{"notify", "params"}`: send a message to the client, in the session of the prompt;
* `{"dump"}`: take the prompt as a result;
* `{"wait"}`: wait until the turn is cancelled;
* `{"raise"}` and `{"crash"}`: raise a `RequestError`, or another exception with a text.

At the end, the agent says the list of results, with `{"result"}` or `{"error"}` for each call, if there are any. In the
params of a call, "$terminal" stands for the terminal that was created last.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

from tests.interop.driver import RESPONSES, SCRIPT, Driver, PeerError

OPEN: dict[str, Any] = {"cwd": "/tmp", "mcpServers": []}
OLD: dict[str, Any] = {"sessionId": "old", **OPEN}
PERMISSION = "session/request_permission"
CANCELLED = {"outcome": {"outcome": "cancelled"}}
MEBIBYTE = 1024 * 1024
ASK = {"call": PERMISSION, "params": SCRIPT["permission"]}


def says(text: str, **more: Any) -> dict[str, Any]:
    """Make the agent say a text."""
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content, **more}
    return {"notify": "session/update", "params": {"update": update}}


def calls(method: str, **params: Any) -> dict[str, Any]:
    """Make the agent call a method of the client."""
    return {"call": method, "params": params}


async def initialize(client: Driver) -> None:
    answer = client.initialized
    assert answer["protocolVersion"] == 1, "another version"
    assert answer["agentInfo"] == SCRIPT["agentInfo"], "another agentInfo"
    assert answer["authMethods"][0].items() >= SCRIPT["authMethods"][0].items(), "another authMethod"
    advertised = answer["agentCapabilities"]
    advertised["sessionCapabilities"]["delete"] = {}  # the Python SDK 0.12.1 has no handler for it
    assert advertised == SCRIPT["agentCapabilities"], "other capabilities of the agent"
    received = answer["_meta"]["received"]
    assert received["clientInfo"] == SCRIPT["clientInfo"], "another clientInfo"
    assert received["clientCapabilities"].items() >= SCRIPT["clientCapabilities"].items(), "other capabilities"


async def authenticate(client: Driver) -> None:
    locked = {"cwd": "/locked", "mcpServers": []}
    assert (await fails(client.call("session/new", locked), -32000))["data"] == {"methods": ["login"]}, "other data"
    await fails(client.call("authenticate", {"methodId": "guess"}), -32602, None)  # our client doesn't send it
    await client.call("authenticate", {"methodId": "login"})
    assert (await client.call("session/new", locked))["sessionId"] == "new", "another session"


async def new_session(client: Driver) -> None:
    session = await client.call("session/new", {**OPEN, "mcpServers": SCRIPT["mcpServers"]})
    received = session["_meta"]["received"]
    assert (received["cwd"], received["mcpServers"]) == ("/tmp", SCRIPT["mcpServers"]), "other MCP servers"
    assert session["modes"] == SCRIPT["modes"], "other modes"
    assert session["configOptions"] == SCRIPT["configOptions"], "other options"


async def updates(client: Driver) -> None:
    turn = await client.prompt(*(says(str(number), _meta={"n": number}) for number in range(200)))
    assert turn["stopReason"] == "end_turn", "another stop reason"
    assert await client.said(200) == [str(number) for number in range(200)], "updates missing or in another order"
    assert client.updates()[3]["_meta"] == {"n": 3}, "another _meta"


async def order_of_prompt(client: Driver) -> None:
    await client.prompt(*(says(str(number)) for number in range(20)))
    assert client.texts() == [str(number) for number in range(20)], "updates missing or in another order"


async def content(client: Driver) -> None:
    await dumps(client, *SCRIPT["content"])


async def large_message(client: Driver) -> None:
    await dumps(client, {"type": "text", "text": "x" * 2 * MEBIBYTE})


async def dumps(client: Driver, *blocks: Any) -> None:
    """Check that blocks come back as they were sent."""
    await client.prompt({"dump": True}, blocks=blocks)
    assert (await client.results())[0][1:] == [*blocks], "other content"


async def unknown_to_agent(client: Driver) -> None:
    await client.prompt({"dump": True}, blocks=[{"type": "text", "text": "", "tomorrow": [1, None, {"x": "é"}]}])
    assert (await client.results())[0][1].get("tomorrow") == [1, None, {"x": "é"}], "unknown fields missing"


async def unknown_to_client(client: Driver) -> None:
    turn = await client.prompt(says("hi", tomorrow=[1, None]))
    assert turn.get("future") == {"deep": [1, None]}, "unknown fields missing"
    assert client.updates()[-1].get("tomorrow") == [1, None], "unknown fields missing"


async def permission(client: Driver) -> None:
    turn = await client.prompt({"notify": "session/update", "params": {"update": SCRIPT["toolCall"]}}, ASK)
    assert turn["stopReason"] == "end_turn", "another stop reason"
    assert await client.results() == [RESPONSES[PERMISSION]], "another answer"
    assert client.requests() == [(PERMISSION, {"sessionId": "new", **SCRIPT["permission"]})], "another request"
    assert client.updates()[0] == SCRIPT["toolCall"], "another tool call"


async def closed_permission(client: Driver) -> None:
    await client.set_responses({PERMISSION: {"result": CANCELLED}})
    await client.prompt(ASK)
    assert await client.results() == [{"result": CANCELLED}], "another answer"


async def cancel_permission(client: Driver) -> None:
    await client.set_responses({PERMISSION: {"cancelled": CANCELLED}})
    turn = asyncio.create_task(client.prompt(ASK))
    await client.until(PERMISSION)
    await client.notify("session/cancel", {"sessionId": "new"})
    assert (await turn)["stopReason"] == "cancelled", "another stop reason"
    await goes_on(client)


async def cancel(client: Driver) -> None:
    turn = asyncio.create_task(client.prompt(says("waiting"), {"wait": True}))
    await client.said()
    await client.notify("session/cancel", {"sessionId": "new"})
    assert (await turn)["stopReason"] == "cancelled", "another stop reason"
    await goes_on(client)


async def cancel_call(client: Driver) -> None:
    turn = asyncio.create_task(client.prompt(says("waiting"), {"wait": True}))
    await client.said()
    await client.cancel_call("session/prompt")
    await fails(turn, -32800)
    await goes_on(client)


async def files(client: Driver) -> None:
    read, write = {"path": "/etc/file", "line": 2, "limit": 1}, {"path": "/etc/file", "content": "héllo\u2028"}
    await client.prompt(calls("fs/read_text_file", **read), calls("fs/write_text_file", **write))
    assert await client.results() == [{"result": {"content": "second line\n"}}, {"result": {}}], "other answers"
    assert client.requests() == [
        ("fs/read_text_file", {"sessionId": "new", **read}),
        ("fs/write_text_file", {"sessionId": "new", **write}),
    ], "other requests"


async def terminal(client: Driver) -> None:
    methods = [f"terminal/{action}" for action in ("create", "output", "kill", "wait_for_exit", "release")]
    create, *others = methods
    await client.prompt(
        calls(create, **SCRIPT["terminal"]), *(calls(other, terminalId="$terminal") for other in others)
    )
    assert await client.results() == [RESPONSES[method] for method in methods], "other answers"
    created = (create, {"sessionId": "new", **SCRIPT["terminal"]})
    used = [(other, {"sessionId": "new", "terminalId": "t-1"}) for other in others]
    assert client.requests() == [created, *used], "other requests"


async def form(client: Driver) -> None:
    await client.prompt(calls("elicitation/create", mode="form", **SCRIPT["form"]))
    assert await client.results() == [RESPONSES["elicitation/create"]], "another answer"
    [(_, params)] = client.requests()
    params["requestedSchema"].setdefault("type", "object")  # the Python SDK omits defaults
    assert params == {"sessionId": "new", "mode": "form", **SCRIPT["form"]}, "another request"


async def load(client: Driver) -> None:
    loaded = await client.call("session/load", OLD)
    assert loaded["modes"] == SCRIPT["modes"], "other modes"
    await client.said()


async def order_of_load(client: Driver) -> None:
    await client.call("session/load", OLD)
    assert client.updates() == SCRIPT["history"], "updates missing or in another order"
    assert {params["sessionId"] for _, params in client.events} == {"old"}, "updates of another session"


async def prompt_after_load(client: Driver) -> None:
    await client.call("session/load", OLD)
    assert (await client.prompt(ASK, session="old"))["stopReason"] == "end_turn", "another stop reason"


async def load_of_missing(client: Driver) -> None:
    error = await fails(client.call("session/load", {**OLD, "sessionId": "nowhere"}), -32002)
    assert error["data"] == {"sessionId": "nowhere"}, "other data"
    await goes_on(client, "the other session has ended")


async def resume(client: Driver) -> None:
    resumed = await client.call("session/resume", OLD)
    assert resumed["modes"] == SCRIPT["modes"], "other modes"
    await client.prompt(says("0"), session="old")
    assert await client.said() == ["0"], "another update"


async def close(client: Driver) -> None:
    await client.call("session/load", OLD)
    await client.call("session/close", {"sessionId": "old"})
    await goes_on(client, "the other session has ended")


async def list_sessions(client: Driver) -> None:
    first = await client.call("session/list", {})
    rest = await client.call("session/list", {"cursor": first["nextCursor"]})
    listed = [*first["sessions"], *rest["sessions"]]
    assert [session for session in listed if session["sessionId"] != "oldest"] == SCRIPT["sessions"][:2], (
        "other sessions"
    )
    assert rest.get("nextCursor") is None, "another cursor"


async def delete(client: Driver) -> None:
    await client.call("session/delete", {"sessionId": "oldest"})
    listed = await client.call("session/list", {"cursor": "more"})
    assert [session["sessionId"] for session in listed["sessions"]] == ["older"], "the session is listed"


async def set_mode(client: Driver) -> None:
    await client.call("session/set_mode", {"sessionId": "new", "modeId": "code"})
    await client.until("session/update")
    assert client.updates() == [{"sessionUpdate": "current_mode_update", "currentModeId": "code"}], "another update"


async def set_option(client: Driver) -> None:
    method, verbose = "session/set_config_option", {"sessionId": "new", "configId": "verbose"}
    model = await client.call(method, {"sessionId": "new", "configId": "model", "value": "large"})
    assert [option["currentValue"] for option in model["configOptions"]] == ["large", False], "other values"
    both = await client.call(method, {**verbose, "type": "boolean", "value": True})
    assert [option["currentValue"] for option in both["configOptions"]] == ["large", True], "other values"
    error = await fails(client.call(method, {**verbose, "value": "yes"}), -32602)
    assert error["data"] == {"configId": "verbose"}, "other data"


async def error_of_agent(client: Driver) -> None:
    error = await fails(client.prompt({"raise": SCRIPT["error"]}), SCRIPT["error"]["code"])
    assert error == SCRIPT["error"], "another error"
    await goes_on(client)


async def error_of_client(client: Driver) -> None:
    await client.set_responses({"fs/read_text_file": {"error": SCRIPT["error"]}})
    await client.prompt(calls("fs/read_text_file", path="/missing"))
    assert await client.results() == [{"error": SCRIPT["error"]}], "another error"


async def exceptions(client: Driver) -> None:
    await fails(client.prompt({"crash": SCRIPT["secret"]}), -32603)
    await client.set_responses({"fs/read_text_file": {"crash": SCRIPT["secret"]}})
    await client.prompt(calls("fs/read_text_file", path="/crash"))
    [result] = await client.results()
    assert result["error"]["code"] == -32603, "another error"


async def unknown_methods(client: Driver) -> None:
    await fails(client.call("_interop/unknown", {}), -32601)
    await client.prompt(calls("_interop/unknown"))
    [result] = await client.results()
    assert result["error"]["code"] == -32601, "another error"


async def invalid_params(client: Driver) -> None:
    await fails(client.call("session/new", {"cwd": 5}), -32602, None)  # the Python SDK doesn't send them
    await goes_on(client)


async def extensions(client: Driver) -> None:
    await client.notify("_interop/note", {"n": None})
    echo = await client.call("_interop/echo", {"x": [1, "é", None]})
    assert echo["params"] == {"x": [1, "é", None]}, "other params"
    assert echo["notifications"][-1] == ["_interop/note", {"n": None}], "other notifications"
    await client.prompt({"notify": "_interop/note", "params": {"n": 1}}, calls("_interop/ask", x=[1, None]))
    assert await client.results() == [RESPONSES["_interop/ask"]], "another answer"
    assert client.events[:2] == [("_interop/note", {"n": 1}), ("_interop/ask", {"x": [1, None]})], "other messages"


async def goes_on(client: Driver, otherwise: str = "another stop reason in the next turn") -> None:
    """Check that the session has another turn."""
    assert (await client.prompt(says("on")))["stopReason"] == "end_turn", otherwise


async def fails(call: Awaitable[Any], *codes: int | None) -> Any:
    """Return the error of a call."""
    try:
        await call
    except PeerError as error:
        if error.code not in codes:
            raise
        return error.error
    raise AssertionError("no error")


Case = Callable[[Driver], Awaitable[None]]
CASES: dict[str, Case] = {
    "`initialize`": initialize,
    "`session/new`": new_session,
    "`session/prompt` with 200 updates": updates,
    "`session/prompt`: all updates before the answer": order_of_prompt,
    "a prompt with images, links and files": content,
    "2 MiB in a prompt and in an update": large_message,
    "permission": permission,
    "`session/cancel`": cancel,
    "`session/cancel` during a permission": cancel_permission,
    "files of the client": files,
    "terminals of the client": terminal,
    "`session/load`": load,
    "`session/load`: all updates before the answer": order_of_load,
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
# No transport makes a difference to these, so they are tried over stdio only.
ON_STDIO: dict[str, Case] = {
    "`authenticate` before `session/new`": authenticate,
    "a permission dialog that the user closes": closed_permission,
    "a call that the client cancels": cancel_call,
    "`session/set_config_option`": set_option,
    "`session/delete`": delete,
    "a form that the user fills in": form,
    "unknown fields of a prompt": unknown_to_agent,
    "unknown fields of an update": unknown_to_client,
    "invalid params": invalid_params,
    "exceptions of both sides": exceptions,
}
_URL = re.compile(r"(http|ws)://\S+")


async def outcome(client: Driver, case: str, seconds: float) -> str:
    """Return `works`, or how a case fails on a connection with the session `new`."""
    client.events.clear()
    try:
        async with asyncio.timeout(seconds):
            await client.set_responses({})
            await (CASES | ON_STDIO)[case](client)
    except TimeoutError:
        return "no answer"
    except PeerError as error:
        message = _URL.sub("the agent", error.error["message"])
        return f"{message} ({error.code})" if error.code else message
    except AssertionError as error:
        return str(error).splitlines()[0] if str(error) else "other messages"
    return "works"
