"""The scenarios: conversations of an agent with the client under test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import getdoc
from pathlib import Path
from typing import Any, Literal, cast

from acp_bindings.v1.connecting import AGENT_SIDE
from acp_kit.checking.client import KINDS, SESSION, Client, Json, Skipped, Violation, encode, member, parse, permission
from acp_runtime.jsonrpc import check_line

Level = Literal["MUST", "SHOULD"]
_Play = Callable[[Client], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A conversation, and the rule that it checks.

    Attributes:
        id: its name.
        level: whether the client must or should follow the rule. SHOULD, too, if the specification is silent.
        rule: the rule of the specification, in our words.
        page: the page of the rule, on agentclientprotocol.com.
        play: plays the conversation. Raises `Violation` or `Skipped`.
        has_user: whether the client has a user, who doesn't answer when the client asks for permission.
    """

    id: str
    level: Level
    rule: str
    page: str
    play: _Play
    has_user: bool = False


SCENARIOS: dict[str, Scenario] = {}


def _scenario(level: Level, page: str, *, in_turn: bool = False, has_user: bool = False) -> Callable[[_Play], None]:
    """Add a scenario. The function's name is its id, the docstring its rule.

    With `in_turn`, the function plays what happens between a prompt and its response. After that, the client must
    continue.
    """

    def add(function: Any) -> None:
        async def play(client: Client) -> None:
            prompt = await client.receive("session/prompt")
            await function(client)
            await client.end_turn(prompt)

        scenario = Scenario(
            id=function.__name__.replace("_", "-"),
            level=level,
            rule=getdoc(function) or "",
            page=f"/protocol/v1/{page}",
            play=play if in_turn else function,
            has_user=has_user,
        )
        SCENARIOS[scenario.id] = scenario

    return add


_in_turn = partial(_scenario, in_turn=True)


async def _request_together(client: Client, requests: Sequence[Json]) -> None:
    """Send requests with one write, and wait for their responses."""
    client.send(*requests)
    for request in requests:
        await client.response_to(request)


def _update(kind: str, **fields: Any) -> Json:
    return {"method": "session/update", "params": {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}}}


def _text(text: str) -> Json:
    return _update("agent_message_chunk", content={"type": "text", "text": text})


# How a connection begins


@_scenario("MUST", "transports#stdio")
async def messages(client: Client) -> None:
    """The client writes only valid messages, one a line, and its working directory is an absolute path."""
    prompt = await client.receive("session/prompt")
    await client.request(permission(1))
    await client.end_turn(prompt)
    for entry in client.entries:
        call = "" if "method" in (parse(entry.data) or {}) else "session/request_permission"
        if entry.direction == "c2a" and (fault := check_line(AGENT_SIDE, entry.data, call).fault):
            raise Violation(f"a line is not valid: {fault}")
    cwd = member(client.params("session/new"), "cwd")
    if not Path(str(cwd)).is_absolute():
        raise Violation(f"`cwd` of session/new is not an absolute path: {cwd!r}")


@_scenario("MUST", "initialization")
async def initialize_first(client: Client) -> None:
    """The client sends nothing else before the response to `initialize`."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize")
    await asyncio.sleep(client.command.quiet)
    if client.messages != [request]:
        raise Violation(f"before the answer to initialize, the client has sent {client.methods()}")
    client.send({"id": request.get("id"), "result": result})
    await client.end_turn(await client.receive("session/prompt"))


@_scenario("SHOULD", "initialization")
async def initialize_silence(client: Client) -> None:
    """If the agent never answers `initialize`, the client ends, at the latest at Ctrl-C."""
    del client.results["initialize"]
    await client.receive("initialize")
    await asyncio.sleep(client.command.quiet)
    client.interrupt()
    await client.wait_for_disconnection()


@_scenario("SHOULD", "initialization#version-negotiation")
async def other_version(client: Client) -> None:
    """If the agent answers with a version that the client doesn't support, the client closes the connection."""
    del client.results["session/new"]
    client.results["initialize"]["protocolVersion"] = 65535
    await client.wait_for_disconnection()
    if client.methods() != ["initialize"]:
        raise Violation(f"the client has not closed the connection, but has sent {client.methods()}")


@_scenario("MUST", "initialization#capabilities")
async def unadvertised(client: Client) -> None:
    """The client uses only what the agent advertises. This agent advertises nothing."""
    prompt = await client.receive("session/prompt")
    await client.end_turn(prompt)
    baseline = {"initialize", "session/new", "session/prompt", "session/cancel", "$/cancel_request"}
    used = [method for method in client.methods() if method not in baseline and not method.startswith("_")]
    blocks = [str(member(block, "type")) for block in _items(member(prompt, "params", "prompt"))]
    used += [f"{kind} in a prompt" for kind in blocks if kind not in ("text", "resource_link")]
    opening = client.params("session/new")
    servers = [member(server, "type") for server in _items(member(opening, "mcpServers"))]
    used += [f"an MCP server over {kind}" for kind in servers if kind in ("http", "sse")]
    used += ["additionalDirectories"] if member(opening, "additionalDirectories") else []
    if used:
        raise Violation(f"the client uses {', '.join(used)}")


# What agents send

_UNKNOWN: list[Json] = [
    {"method": method, "params": {"sessionId": SESSION}} for method in ("_acp_bindings/unknown", "session/paint")
]


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def updates_before_session(client: Client) -> None:
    """Updates may come before the response to `session/new`."""
    result = client.results.pop("session/new")
    request = await client.receive("session/new")
    commands = _update("available_commands_update", availableCommands=[{"name": "go", "description": "Go"}])
    client.send(commands, _text("Welcome"), {"id": request["id"], "result": result})
    await client.end_turn(await client.receive("session/prompt"))


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def late_update(client: Client) -> None:
    """An update after the response to a prompt does no harm."""
    await client.end_turn(await client.receive("session/prompt"), _text("One more thing"))


async def _with_keys(client: Client, keys: Json) -> None:
    for result in client.results.values():
        result.update(keys)
    client.results["initialize"]["agentCapabilities"].update(keys)
    prompt = await client.receive("session/prompt")
    update = _update("agent_message_chunk", content={"type": "text", "text": "a", **keys}, **keys)
    request = permission(1)
    for part in (update["params"], request["params"], request["params"]["toolCall"], *request["params"]["options"]):
        part.update(keys)
    client.send(update, request)
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


@_in_turn("MUST", "transports")
async def split_characters(client: Client) -> None:
    """The system may split messages anywhere. Here it splits one inside a character."""
    line = encode(request := permission("ça"))
    cut = line.index("ç".encode()) + 1
    client.send(line[:cut])
    await asyncio.sleep(client.command.quiet / 4)  # so that the client reads this part alone
    client.send(line[cut:])
    await client.response_to(request)


@_scenario("SHOULD", "transports#stdio")
async def noise(client: Client) -> None:
    """Lines that aren't JSON do no harm, though an agent must not write them."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize")
    client.send(b"npm warn deprecated\n", {"id": request["id"], "result": result})
    prompt = await client.receive("session/prompt")
    client.send(b"[1] loading {model}...\n", _text("Hello"))
    await client.end_turn(prompt)


@_scenario("MUST", "overview#communication-model")
async def prompt_error(client: Client) -> None:
    """An error as the response to a prompt ends the turn."""
    prompt = await client.receive("session/prompt")
    client.send({"id": prompt.get("id"), "error": {"code": -32603, "message": "quota", "data": {"details": "quota"}}})
    await client.wait_for_exit()


@_scenario("SHOULD", "transports#stdio")
async def agent_dies(client: Client) -> None:
    """If the agent dies during a prompt, the client doesn't wait for the response."""
    await client.receive("session/prompt")
    if client.command.by_hand:
        raise Skipped("the client stays open")
    client.send(_text("Oh"))
    client.end_agent()
    await client.wait_for_exit()


@_in_turn("SHOULD", "extensibility")
async def unknown_update(client: Client) -> None:
    """An update of an unknown kind is ignored."""
    client.send(_update("weather_update", forecast={"tomorrow": "sunny"}), _text("Hello"))


@_in_turn("SHOULD", "extensibility#custom-notifications")
async def unknown_notification(client: Client) -> None:
    """An unknown notification is ignored."""
    client.send(*_UNKNOWN)


@_in_turn("MUST", "transports#stdio")
async def long_line(client: Client) -> None:
    """Messages may have any length. This one has 1 MiB."""
    request = permission(1)
    request["params"]["toolCall"]["rawInput"] = {"text": "x" * 2**20}
    await client.request(request)


# Requests to the client


@_in_turn("MUST", "extensibility#custom-requests")
async def unknown_request(client: Client) -> None:
    """An unknown request gets a response."""
    await _request_together(client, [{"id": message["method"], **message} for message in _UNKNOWN])


@_in_turn("SHOULD", "extensibility#custom-requests")
async def method_not_found(client: Client) -> None:
    """The response to an unknown request is the error -32601."""
    for message in _UNKNOWN:
        answer = await client.request({"id": 1, **message})
        if member(answer, "error", "code") != -32601:
            raise Violation(f"{message['method']} was answered with {_short(answer)}")


@_in_turn("MUST", "schema#requestid")
async def string_ids(client: Client) -> None:
    """A response has the id of its request. An id that is a string stays a string."""
    for id in ("31", "a b", 0):
        await client.request(permission(id))


@_in_turn("MUST", "overview#communication-model")
async def parallel_requests(client: Client) -> None:
    """Each of several parallel requests gets a response."""
    await _request_together(client, [permission(id) for id in (1, 2, 3)])


@_in_turn("MUST", "overview#communication-model")
async def unknown_session(client: Client) -> None:
    """A request for an unknown session gets a response."""
    await client.request(permission(1, session="session-of-somebody-else"))


@_in_turn("MUST", "tool-calls#requesting-permission")
async def permission_option(client: Client) -> None:
    """The response to a permission request is one of its options, or `cancelled`."""
    for index in range(len(KINDS)):
        request = permission(index, KINDS[index:] + KINDS[:index])
        answer = await client.request(request)
        options = [option["optionId"] for option in request["params"]["options"]]
        if _chosen(answer) not in ("cancelled", *options):
            raise Violation(f"the options are {', '.join(options)}, but the answer is {_short(answer)}")


@_in_turn("SHOULD", "tool-calls#permission-options")
async def permission_kind(client: Client) -> None:
    """An option is chosen by its kind, not by its position."""
    if client.command.by_hand or client.command.answer is not None:
        raise Skipped("a user chooses")
    chosen = [_chosen(await client.request(permission(1, kinds))) for kinds in (KINDS, KINDS[::-1])]
    meanings = {option.partition("_")[0] for option in chosen}
    if not meanings <= {"my-allow", "my-reject"}:
        raise Skipped("the client chooses none of the options")
    if len(meanings) > 1:
        raise Violation(f"the client has chosen {chosen[0]}, but {chosen[1]} when the order was the reverse")


@_scenario("MUST", "prompt-turn#cancellation", has_user=True)
async def cancel(client: Client) -> None:
    """A client that cancels a turn answers pending permission requests with `cancelled`."""
    prompt = await client.receive("session/prompt")
    client.send(_text("Please cancel this turn while the question is open."), request := permission(1))
    with suppress(TimeoutError):
        async with asyncio.timeout(client.command.quiet):
            await client.response_to(request)
            raise Skipped("the client has answered the question by itself")
    client.interrupt()
    try:
        await client.receive("session/cancel")
    except Violation as reason:
        raise Skipped(f"{reason}, which it may send") from None
    answer = await client.response_to(request)
    if _chosen(answer) != "cancelled":
        raise Violation(f"the question was answered with {_short(answer)}")
    client.send({"id": prompt.get("id"), "result": {"stopReason": "cancelled"}})
    await client.wait_for_exit()


def _chosen(answer: Json) -> str:
    """Return the id of the chosen option, or `cancelled`."""
    outcome = member(answer, "result", "outcome")
    return str(member(outcome, "optionId" if member(outcome, "outcome") == "selected" else "outcome"))


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _short(answer: Json) -> str:
    return json.dumps(answer.get("error") or answer.get("result"), ensure_ascii=False)[:200]
