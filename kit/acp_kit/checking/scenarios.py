"""The scenarios: each is a conversation that an agent has with the client under test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from inspect import getdoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

from acp_bindings.v1.connecting import AGENT_SIDE
from acp_kit.checking.client import KINDS, SESSION, Client, Json, NotTried, Unmet, dig, encode, parse, permission
from acp_runtime.jsonrpc import check_line

Level = Literal["MUST", "SHOULD"]
_Play = Callable[[Client], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A conversation, and what it checks.

    Attributes:
        id: its name.
        level: whether the client must or should do what it checks. It is SHOULD where the specification is silent, too.
        rule: what the specification says, in our words.
        page: where it says so, on agentclientprotocol.com.
        play: has the conversation. Raises `Unmet` or `NotTried`.
        has_user: whether there is a user, who says nothing when the client asks for permission.
    """

    id: str
    level: Level
    rule: str
    page: str
    play: _Play
    has_user: bool = False


SCENARIOS: dict[str, Scenario] = {}


def _scenario(level: Level, page: str, *, has_user: bool = False) -> Callable[[_Play], None]:
    """Add a scenario. The function's name is its id, the docstring its rule."""

    def add(play: Any) -> None:
        id = play.__name__.replace("_", "-")
        SCENARIOS[id] = Scenario(id, level, getdoc(play) or "", f"/protocol/v1/{page}", play, has_user)

    return add


def _in_turn(level: Level, page: str) -> Callable[[_Play], None]:
    """Add a scenario of what happens between a prompt and its answer. After that, the client has to go on."""

    def add(act: _Play) -> None:
        @wraps(act)
        async def play(client: Client) -> None:
            prompt = await client.receive("session/prompt")
            await act(client)
            await client.end_turn(prompt)

        _scenario(level, page)(play)

    return add


def _sends(level: Level, page: str) -> Callable[[Callable[[], list[Json]]], None]:
    """Add a scenario in which the agent sends messages in one piece, and the client answers the requests of them."""

    def add(messages: Callable[[], list[Json]]) -> None:
        @wraps(messages)
        async def act(client: Client) -> None:
            client.send(*messages())
            for message in messages():
                if "id" in message:
                    await client.answer(message)

        _in_turn(level, page)(act)

    return add


def _update(kind: str, **fields: Any) -> Json:
    return {"method": "session/update", "params": {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}}}


def _text(text: str) -> Json:
    return _update("agent_message_chunk", content={"type": "text", "text": text})


# How a connection begins


@_scenario("MUST", "transports#stdio")
async def messages(client: Client) -> None:
    """The client writes nothing but valid messages, one a line, and its working directory is an absolute path."""
    prompt = await client.receive("session/prompt")
    await client.ask(permission(1))
    await client.end_turn(prompt)
    for _, direction, line in client.entries:
        call = "" if "method" in (parse(line) or {}) else "session/request_permission"
        if direction == "c2a" and (fault := check_line(AGENT_SIDE, line, call).fault):
            raise Unmet(f"a line is not valid: {fault}")
    cwd = dig(client.params("session/new"), "cwd")
    if not Path(str(cwd)).is_absolute():
        raise Unmet(f"`cwd` of session/new is not an absolute path: {cwd!r}")


@_scenario("MUST", "initialization")
async def initialize_first(client: Client) -> None:
    """The client sends nothing else before `initialize` is answered."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize")
    await asyncio.sleep(client.command.quiet)
    if client.messages != [request]:
        raise Unmet(f"before the answer to initialize, the client has sent {client.methods()}")
    client.send({"id": request.get("id"), "result": result})
    await client.end_turn(await client.receive("session/prompt"))


@_scenario("SHOULD", "initialization")
async def initialize_silence(client: Client) -> None:
    """If the agent never answers `initialize`, the client gives up, at the latest at Ctrl-C."""
    del client.results["initialize"]
    await client.receive("initialize")
    await asyncio.sleep(client.command.quiet)
    client.interrupt()
    await client.see_left()


@_scenario("SHOULD", "initialization#version-negotiation")
async def other_version(client: Client) -> None:
    """If the agent answers with a version that the client doesn't know, it closes the connection."""
    del client.results["session/new"]
    client.results["initialize"]["protocolVersion"] = 65535
    await client.see_left()
    if client.methods() != ["initialize"]:
        raise Unmet(f"the client has not closed the connection at once, but has sent {client.methods()}")


@_scenario("MUST", "initialization#capabilities")
async def unadvertised(client: Client) -> None:
    """The client uses nothing that the agent doesn't advertise. Here it advertises nothing."""
    prompt = await client.receive("session/prompt")
    await client.end_turn(prompt)
    baseline = {"initialize", "session/new", "session/prompt", "session/cancel", "$/cancel_request"}
    used = [method for method in client.methods() if method not in baseline and not method.startswith("_")]
    blocks = [str(dig(block, "type")) for block in _items(dig(prompt, "params", "prompt"))]
    used += [f"{kind} in a prompt" for kind in blocks if kind not in ("text", "resource_link")]
    opening = client.params("session/new")
    servers = [dig(server, "type") for server in _items(dig(opening, "mcpServers"))]
    used += [f"an MCP server over {kind}" for kind in servers if kind in ("http", "sse")]
    used += ["additionalDirectories"] if dig(opening, "additionalDirectories") else []
    if used:
        raise Unmet(f"the client uses {', '.join(used)}")


# What agents send


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def updates_before_session(client: Client) -> None:
    """Updates may come before the answer to `session/new`."""
    result = client.results.pop("session/new")
    request = await client.receive("session/new")
    commands = _update("available_commands_update", availableCommands=[{"name": "go", "description": "Go"}])
    client.send(commands, _text("Welcome"), {"id": request["id"], "result": result})
    await client.end_turn(await client.receive("session/prompt"))


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def late_update(client: Client) -> None:
    """An update after the answer to a prompt does no harm."""
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
    await client.answer(request)
    await client.end_turn(prompt)


@_scenario("SHOULD", "extensibility")
async def unknown_keys(client: Client) -> None:
    """Unknown keys, which later versions may add, are ignored."""
    await _with_keys(client, {"weather": {"tomorrow": ["sunny"]}})


@_scenario("MUST", "extensibility#the-_meta-field")
async def meta(client: Client) -> None:
    """Nothing is assumed about what `_meta` holds."""
    await _with_keys(client, {"_meta": {"traceparent": None, "acp-bindings/deep": [{"a": 1.5}], "": False}})


@_in_turn("MUST", "transports")
async def split_characters(client: Client) -> None:
    """Messages are UTF-8, wherever the system cuts the stream. Here it is inside a character."""
    line = encode(request := permission("ça"))
    cut = line.index("ç".encode()) + 1
    client.send(line[:cut])
    await asyncio.sleep(client.command.quiet / 4)  # so that the client reads it alone
    client.send(line[cut:])
    await client.answer(request)


@_scenario("SHOULD", "transports#stdio")
async def noise(client: Client) -> None:
    """Lines that are not JSON, which an agent must not write, do no harm."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize")
    client.send(b"npm warn deprecated\n", {"id": request["id"], "result": result})
    prompt = await client.receive("session/prompt")
    client.send(b"[1] loading {model}...\n", _text("Hello"))
    await client.end_turn(prompt)


@_scenario("MUST", "overview#communication-model")
async def prompt_error(client: Client) -> None:
    """A prompt that is answered with an error has ended."""
    prompt = await client.receive("session/prompt")
    client.send({"id": prompt.get("id"), "error": {"code": -32603, "message": "quota", "data": {"details": "quota"}}})
    await client.see_end()


@_scenario("SHOULD", "transports#stdio")
async def agent_dies(client: Client) -> None:
    """If the agent dies during a prompt, the client doesn't wait for the answer."""
    await client.receive("session/prompt")
    if client.command.by_hand:
        raise NotTried("the client stays open")
    client.send(_text("Oh"))
    client.leave()
    await client.see_end()


@_sends("SHOULD", "extensibility")
def unknown_update() -> list[Json]:
    """An update of an unknown kind is ignored."""
    return [_update("weather_update", forecast={"tomorrow": "sunny"}), _text("Hello")]


@_sends("SHOULD", "extensibility#custom-notifications")
def unknown_notification() -> list[Json]:
    """An unknown notification is ignored."""
    return [{"method": method, "params": {"sessionId": SESSION}} for method in _UNKNOWN]


@_sends("MUST", "transports#stdio")
def long_line() -> list[Json]:
    """A message is a line of any length. Here it has 1 MiB."""
    request = permission(1)
    request["params"]["toolCall"]["rawInput"] = {"text": "x" * 2**20}
    return [request]


# Requests to the client

_UNKNOWN = ("_acp_bindings/unknown", "session/paint")


@_sends("MUST", "extensibility#custom-requests")
def unknown_request() -> list[Json]:
    """An unknown request is answered, too."""
    return [{"id": method, "method": method, "params": {"sessionId": SESSION}} for method in _UNKNOWN]


@_in_turn("SHOULD", "extensibility#custom-requests")
async def method_not_found(client: Client) -> None:
    """The answer to an unknown request is the error -32601."""
    for method in _UNKNOWN:
        answer = await client.ask({"id": 1, "method": method, "params": {"sessionId": SESSION}})
        if dig(answer, "error", "code") != -32601:
            raise Unmet(f"{method} was answered with {_short(answer)}")


@_in_turn("MUST", "schema#requestid")
async def string_ids(client: Client) -> None:
    """An answer has the id of its request: a text stays a text."""
    for id in ("31", "a b", 0):
        await client.ask(permission(id))


@_sends("MUST", "overview#communication-model")
def parallel_requests() -> list[Json]:
    """Requests in parallel are each answered."""
    return [permission(id) for id in (1, 2, 3)]


@_sends("MUST", "overview#communication-model")
def unknown_session() -> list[Json]:
    """A request for a session that the client doesn't know is answered, too."""
    return [permission(1, session="session-of-somebody-else")]


@_in_turn("MUST", "tool-calls#requesting-permission")
async def permission_option(client: Client) -> None:
    """The answer to a request for permission is one of its options, or `cancelled`."""
    for place in range(len(KINDS)):
        request = permission(place, KINDS[place:] + KINDS[:place])
        answer = await client.ask(request)
        options = [option["optionId"] for option in request["params"]["options"]]
        if _chosen(answer) not in ("cancelled", *options):
            raise Unmet(f"the options are {', '.join(options)}, but the answer is {_short(answer)}")


@_in_turn("SHOULD", "tool-calls#permission-options")
async def permission_kind(client: Client) -> None:
    """An option is chosen by what it means, not by its place."""
    if client.command.by_hand or client.command.answer is not None:
        raise NotTried("a user chooses")
    chosen = [_chosen(await client.ask(permission(1, kinds))) for kinds in (KINDS, KINDS[::-1])]
    meanings = {option.partition("_")[0] for option in chosen}
    if not meanings <= {"my-allow", "my-reject"}:
        raise NotTried("the client chooses none of the options")
    if len(meanings) > 1:
        raise Unmet(f"the client has chosen {chosen[0]}, but {chosen[1]} when the order was the reverse")


@_scenario("MUST", "prompt-turn#cancellation", has_user=True)
async def cancel(client: Client) -> None:
    """A client that cancels a turn answers its open requests for permission with `cancelled`."""
    prompt = await client.receive("session/prompt")
    client.send(_text("Please cancel this turn while the question is open."), request := permission(1))
    await asyncio.sleep(client.command.quiet)
    if any("method" not in message for message in client.messages):
        raise NotTried("the client has answered the question by itself")
    client.interrupt()
    try:
        await client.receive("session/cancel")
    except Unmet as reason:
        raise NotTried(f"{reason}, which it may send") from None
    answer = await client.answer(request)
    if _chosen(answer) != "cancelled":
        raise Unmet(f"the question was answered with {_short(answer)}")
    client.send({"id": prompt.get("id"), "result": {"stopReason": "cancelled"}})
    await client.see_end()


@_in_turn("MUST", "file-system")
async def files(client: Client) -> None:
    """Files can be read and written as far as the client advertises it."""
    fs = dig(client.params("initialize"), "clientCapabilities", "fs")
    reads, writes = dig(fs, "readTextFile"), dig(fs, "writeTextFile")
    cwd = str(dig(client.params("session/new"), "cwd"))
    if not reads and not writes:
        raise NotTried("the client doesn't advertise files")
    if not Path(cwd).is_dir():
        raise NotTried(f"the session's working directory is not a folder here: {cwd}")
    with TemporaryDirectory(prefix="acp-bindings-", dir=cwd) as folder:
        file = Path(folder, "a.txt")
        file.write_text("one\ntwo: ça va\nthree\n", "utf-8", newline="\n")
        about = {"sessionId": SESSION, "path": str(file)}
        if reads:
            params = {**about, "line": 2, "limit": 1}
            answer = await client.ask({"id": 1, "method": "fs/read_text_file", "params": params})
            if str(dig(answer, "result", "content")).strip() != "two: ça va":
                raise Unmet(f"line 2 is 'two: ça va', but the answer is {_short(answer)}")
        if writes:
            params = {**about, "content": "ça va"}
            answer = await client.ask({"id": 2, "method": "fs/write_text_file", "params": params})
            if "error" in answer:
                raise NotTried(f"the client doesn't write: {_short(answer)}")
            if file.read_text("utf-8") != "ça va":
                raise Unmet("the client has answered, but not written the file")


def _chosen(answer: Json) -> str:
    """Return the id of the option that was chosen, or `cancelled`."""
    outcome = dig(answer, "result", "outcome")
    return str(dig(outcome, "optionId" if dig(outcome, "outcome") == "selected" else "outcome"))


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _short(answer: Json) -> str:
    return json.dumps(answer.get("error") or answer.get("result"), ensure_ascii=False)[:200]
