"""The scenarios for clients: conversations of an agent with the client under test."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from acp_bindings.v1 import connecting as v1
from acp_bindings.v2_draft import connecting as v2_draft
from acp_kit.checking.client import KINDS, SESSION, Client, update
from acp_kit.checking.common_scenarios import COMMON_SCENARIOS
from acp_kit.checking.peer import Json, Skipped, Violation, short, with_keys
from acp_kit.checking.scenario import Play, Scenarios
from acp_kit.common.json_values import items_of, member

CLIENT_SCENARIOS = Scenarios()
_scenario = CLIENT_SCENARIOS.add


def _around_turn(function: Play) -> Play:
    """Return a conversation in which the function plays what happens in a turn. After that, the client continues."""

    async def play(client: Client) -> None:
        prompt = await client.receive("session/prompt")
        await function(client)
        await client.end_turn(prompt)

    return play


_in_turn = partial(_scenario, around=_around_turn)


# How a connection begins


@_scenario("MUST", "transports#stdio")
async def messages(client: Client) -> None:
    """The client writes only valid messages, one a line, and its working directory is an absolute path."""
    with client.checking_lines():
        prompt = await client.receive("session/prompt")
        await client.request(client.permission(1))
        await client.end_turn(prompt)
    cwd = member(client.params("session/new"), "cwd")
    if not Path(str(cwd)).is_absolute():
        raise Violation(f"`cwd` of session/new is not an absolute path: {cwd!r}")


@_scenario("MUST", "initialization")
async def initialize_first(client: Client) -> None:
    """The client sends nothing else before the response to `initialize`."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize")
    await asyncio.sleep(client.quiet_time)
    if client.messages != [request]:
        raise Violation(f"before the answer to initialize, the client has sent {client.methods()}")
    client.send({"id": request.get("id"), "result": result})
    await client.end_turn(await client.receive("session/prompt"))


@_scenario("SHOULD", "initialization")
async def initialize_silence(client: Client) -> None:
    """If the agent never answers `initialize`, the client ends, at the latest at Ctrl-C."""
    del client.results["initialize"]
    await client.receive("initialize")
    await asyncio.sleep(client.quiet_time)
    client.interrupt()
    await client.wait_for_disconnection()


@_scenario("SHOULD", "initialization#version-negotiation")
async def other_version(client: Client) -> None:
    """If the agent answers with a version that the client doesn't support, the client closes the connection."""
    del client.results["session/new"]
    client.results["initialize"]["protocolVersion"] = 65535
    with suppress(Violation):  # it has closed the connection, or waits
        await client.receive("session/new")
    if client.methods() != ["initialize"]:
        raise Violation(f"the client has not closed the connection, but has sent {client.methods()[1:]}")
    if not client.has_disconnected:
        raise Violation("the client has not closed the connection")


@_scenario("MUST", "initialization#capabilities")
async def unadvertised(client: Client) -> None:
    """The client uses only what the agent advertises. This agent advertises nothing."""
    prompt = await client.receive("session/prompt")
    await client.end_turn(prompt)
    side = v1.AGENT_SIDE if client.version == 1 else v2_draft.AGENT_SIDE
    unlocked = (None, "capabilities.session")
    usable = {name for name, method in {**side.requests, **side.notifications}.items() if method.capability in unlocked}
    usable -= {"session/set_mode", "session/set_config_option"}  # the session has neither modes nor options
    used = [method for method in client.methods() if method not in usable and not method.startswith("_")]
    blocks = [str(member(block, "type")) for block in items_of(prompt, "params", "prompt")]
    used += [f"{kind} in a prompt" for kind in blocks if kind not in ("text", "resource_link")]
    opening = client.params("session/new")
    servers = [member(server, "type") for server in items_of(opening, "mcpServers")]
    used += [f"an MCP server over {kind}" for kind in servers if kind in ("http", "sse")]
    used += ["additionalDirectories"] if member(opening, "additionalDirectories") else []
    if used:
        raise Violation(f"the client uses {', '.join(used)}")


# Sessions


@_scenario("MUST", "session-setup#loading-sessions", loads=True, versions=[1])
async def load(client: Client) -> None:
    """A session is loaded if the agent supports it, and the prompt waits for the response."""
    client.results["initialize"]["agentCapabilities"] = {"loadSession": True}
    request = await client.receive("session/load")
    params: Json = request.get("params", {})
    if params.get("sessionId") != SESSION:
        raise Violation(f"the client loads {params.get('sessionId')!r}, not {SESSION!r}")
    asked = update("user_message_chunk", content={"type": "text", "text": "Hello?"})
    call = update("tool_call", toolCallId="call-1", title="Read a.txt", kind="read", status="completed")
    client.send(asked, client.text("Hello "), client.text("there"), call)
    await asyncio.sleep(client.quiet_time)
    if "session/prompt" in client.methods():
        raise Violation("the client has sent session/prompt before the answer to session/load")
    client.send({"id": request.get("id"), "result": {}})
    prompt = await client.receive("session/prompt")
    if member(prompt, "params", "sessionId") != SESSION:
        raise Violation(f"the prompt is for the session {member(prompt, 'params', 'sessionId')!r}")
    await client.end_turn(prompt)
    client.check_lines(noise=False)


@_scenario("MUST", "session-config-options")
async def config_options(client: Client) -> None:
    """Config options and their changes do no harm. A value that the client sets is one of those offered."""
    id = "id" if client.version == 1 else "configId"

    def options(current: str) -> list[Json]:
        small, large = [{"value": value, "name": value} for value in ("small", "large")]
        group = [{"group": "sizes", "name": "Sizes", "options": [small, large]}]
        known: Json = {"type": "select", "name": "Model", "category": "model", "currentValue": current}
        unknown: Json = {"type": "select", "name": "Taste", "category": "_taste", "currentValue": "small"}
        return [{id: "model", **known, "options": [small, large]}, {id: "taste", **unknown, "options": group}]

    client.results["session/new"]["configOptions"] = options("small")
    client.results["session/set_config_option"] = {"configOptions": options("large")}
    prompt = await client.receive("session/prompt")
    client.send(update("config_option_update", configOptions=options("large")), client.text("Changed"))
    await client.end_turn(prompt)
    for message in client.messages:
        value = member(message, "params", "value")
        if message.get("method") == "session/set_config_option" and value not in ("small", "large"):
            raise Violation(f"the client sets an option to {value!r}")


# Files and terminals


@_in_turn("MUST", "file-system", versions=[1])
async def files(client: Client) -> None:
    """The client creates a file in the working directory, and returns the lines that are asked for."""
    fs = member(client.params("initialize"), "clientCapabilities", "fs")
    if not (member(fs, "readTextFile") and member(fs, "writeTextFile")):
        raise Skipped("the client doesn't advertise that it reads and writes files")
    cwd = str(member(client.params("session/new"), "cwd"))
    path = Path(cwd) / f"acp-bindings-{uuid4()}.txt"
    content = "one\nça va\nthree\n"
    try:
        written = await client.request(_for_session("fs/write_text_file", path=str(path), content=content))
        if "error" in written:
            raise Skipped(f"the client has not written a file: {short(written)}")
        for lines, expected in (({}, content), ({"line": 2}, "ça va\nthree\n"), ({"line": 2, "limit": 1}, "ça va\n")):
            answer = await client.request(_for_session("fs/read_text_file", path=str(path), **lines))
            text = member(answer, "result", "content")
            if not isinstance(text, str) or text.removesuffix("\n") != expected.removesuffix("\n"):
                raise Violation(f"with {lines}, {expected!r} was read as {short(answer)}")
    finally:
        path.unlink(missing_ok=True)
    missing = await client.request(_for_session("fs/read_text_file", path=str(path)))
    if "error" not in missing:
        raise Violation(f"a file that doesn't exist was read as {short(missing)}")


@_in_turn("MUST", "terminals", versions=[1])
async def terminals(client: Client) -> None:
    """A terminal runs a command, keeps its output after the command is killed, and ends when it is released."""
    if member(client.params("initialize"), "clientCapabilities", "terminal") is not True:
        raise Skipped("the client doesn't advertise terminals")
    cwd = member(client.params("session/new"), "cwd")
    program = "import sys, time; print('-' * 50 + 'ready', flush=True); time.sleep(int(sys.argv[1]))"
    for seconds, expected in (("0", 0), ("3600", None)):
        command = {"command": sys.executable, "args": ["-c", program, seconds], "cwd": cwd, "outputByteLimit": 20}
        created = await client.request(_for_session("terminal/create", **command))
        if "error" in created:
            raise Skipped(f"the client has not run a command: {short(created)}")
        terminal = partial(_for_session, terminalId=member(created, "result", "terminalId"))
        if expected is None:
            await client.request(terminal("terminal/kill"))
        ended = await client.request(terminal("terminal/wait_for_exit"))
        if expected == 0 and member(ended, "result", "exitCode") != 0:
            raise Violation(f"a command that succeeds has ended with {short(ended)}")
        output = await client.request(terminal("terminal/output"))
        if not isinstance(member(output, "result", "output"), str) or member(output, "result", "exitStatus") is None:
            raise Violation(f"the output of an ended command is {short(output)}")
        is_cut = member(output, "result", "truncated") is True
        if expected == 0 and not (is_cut and output["result"]["output"].rstrip().endswith("ready")):
            raise Violation(f"the last 20 bytes of the output are {short(output)}")
        await client.request(terminal("terminal/release"))
    client.check_lines(noise=False)


def _for_session(method: str, **params: Any) -> Json:
    return {"id": str(uuid4()), "method": method, "params": {"sessionId": SESSION, **params}}


# What agents send

CLIENT_SCENARIOS.include(COMMON_SCENARIOS, around=_around_turn)


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def updates_before_session(client: Client) -> None:
    """Updates may come before the response to `session/new`."""
    result = client.results.pop("session/new")
    request = await client.receive("session/new")
    commands = update("available_commands_update", availableCommands=[{"name": "go", "description": "Go"}])
    client.send(commands, client.text("Welcome"), {"id": request["id"], "result": result})
    await client.end_turn(await client.receive("session/prompt"))


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def late_update(client: Client) -> None:
    """An update after the response to a prompt does no harm."""
    await client.end_turn(await client.receive("session/prompt"), client.text("One more thing"))


async def _with_keys(client: Client, keys: Json) -> None:
    client.results = {method: with_keys(result, keys) for method, result in client.results.items()}
    prompt = await client.receive("session/prompt")
    request = client.permission(1)
    for message in (client.text("a"), request):
        client.send({**message, "params": with_keys(message["params"], keys)})
    await client.response_to(request)
    await client.end_turn(prompt)


@_scenario("SHOULD", "extensibility")
async def unknown_keys(client: Client) -> None:
    """Unknown keys, which later versions may add, are ignored."""
    await _with_keys(client, {"weather": {"tomorrow": ["sunny"]}})


@_scenario("MUST", "extensibility#the-_meta-field")
async def meta(client: Client) -> None:
    """`_meta` may have any content."""
    await _with_keys(client, {"_meta": {"traceparent": None, "acp-bindings/deep": [{"a": 1.5}], "": False}})


@_scenario("SHOULD", "transports#stdio")
async def noise(client: Client) -> None:
    """Lines that aren't JSON do no harm, though an agent must not write them."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize")
    client.send(b"npm warn deprecated\n", {"id": request["id"], "result": result})
    prompt = await client.receive("session/prompt")
    client.send(b"[1] loading {model}...\n", client.text("Hello"))
    await client.end_turn(prompt)


@_scenario("MUST", "overview#communication-model")
async def prompt_error(client: Client) -> None:
    """An error as the response to a prompt ends the turn."""
    client.accepts_prompts = False
    prompt = await client.receive("session/prompt")
    client.send({"id": prompt.get("id"), "error": {"code": -32603, "message": "quota", "data": {"details": "quota"}}})
    await client.wait_for_exit()


@_scenario("SHOULD", "transports#stdio")
async def agent_dies(client: Client) -> None:
    """If the agent dies during a prompt, the client doesn't wait for the response."""
    await client.receive("session/prompt")
    if client.command.by_hand:
        raise Skipped("the client stays open")
    client.send(client.text("Oh"))
    client.end_agent()
    await client.wait_for_exit()


@_in_turn("SHOULD", "extensibility")
async def unknown_update(client: Client) -> None:
    """An update of an unknown kind is ignored."""
    client.send(update("weather_update", forecast={"tomorrow": "sunny"}), client.text("Hello"))


# Requests to the client


@_in_turn("MUST", "overview#communication-model")
async def parallel_requests(client: Client) -> None:
    """Each of several parallel requests gets a response."""
    requests = [client.permission(id) for id in (1, 2, 3)]
    client.send(*requests)
    for request in requests:
        await client.response_to(request)


@_in_turn("MUST", "overview#communication-model")
async def unknown_session(client: Client) -> None:
    """A request for an unknown session gets a response."""
    await client.request(client.permission(1, session="session-of-somebody-else"))


@_in_turn("MUST", "tool-calls#requesting-permission")
async def permission_option(client: Client) -> None:
    """The response to a permission request is one of its options, or `cancelled`."""
    for index in range(len(KINDS)):
        request = client.permission(index, KINDS[index:] + KINDS[:index])
        answer = await client.request(request)
        options = [option["optionId"] for option in request["params"]["options"]]
        if _chosen(answer) not in ("cancelled", *options):
            raise Violation(f"the options are {', '.join(options)}, but the answer is {short(answer)}")


@_in_turn("SHOULD", "tool-calls#permission-options")
async def permission_kind(client: Client) -> None:
    """An option is chosen by its kind, not by its position."""
    if client.command.by_hand or client.command.answer is not None:
        raise Skipped("a user chooses")
    chosen = [_chosen(await client.request(client.permission(1, kinds))) for kinds in (KINDS, KINDS[::-1])]
    meanings = {option.partition("_")[0] for option in chosen}
    if not meanings <= {"my-allow", "my-reject"}:
        raise Skipped("the client chooses none of the options")
    if len(meanings) > 1:
        raise Violation(f"the client has chosen {chosen[0]}, but {chosen[1]} when the order was the reverse")


@_scenario("MUST", "prompt-turn#cancellation", has_user=True)
async def cancel(client: Client) -> None:
    """A client that cancels a turn answers pending permission requests with `cancelled`."""
    prompt = await client.receive("session/prompt")
    client.send(client.text("Please cancel this turn while the question is open."), request := client.permission(1))
    with suppress(TimeoutError):
        async with asyncio.timeout(client.quiet_time):
            await client.response_to(request)
            raise Skipped("the client has answered the question by itself")
    client.interrupt()
    try:
        await client.receive("session/cancel")
    except Violation as reason:
        raise Skipped(f"{reason}, which it may send") from None
    if client.version == 2:
        client.send({"method": "$/cancel_request", "params": {"requestId": request["id"]}})
    answer = await client.response_to(request)
    if _chosen(answer) != "cancelled":
        raise Violation(f"the question was answered with {short(answer)}")
    client.send(client.turn_end(prompt, "cancelled"))
    await client.wait_for_exit()


def _chosen(answer: Json) -> str:
    """Return the id of the chosen option, or `cancelled`."""
    outcome = member(answer, "result", "outcome")
    return str(member(outcome, "optionId" if member(outcome, "outcome") == "selected" else "outcome"))
