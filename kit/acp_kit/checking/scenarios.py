"""The scenarios: each is a conversation that an agent has with the client under test."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from inspect import getdoc
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Literal

from acp_bindings.v1.connecting import AGENT_SIDE
from acp_kit.checking.client import KINDS, PROMPT, SESSION, Client, Json, NotTried, Unmet, encode, parse
from acp_runtime.jsonrpc import check_line

Level = Literal["MUST", "SHOULD"]


@dataclass(frozen=True)
class Scenario:
    """A conversation, and what it checks.

    Attributes:
        id: its name.
        level: whether the client must or should do what it checks. It is SHOULD where the specification is silent, too.
        rule: what the specification says, in our words.
        page: where it says so, on agentclientprotocol.com.
        play: has the conversation. Raises `Unmet` or `NotTried`.
        cancels: whether the turn is cancelled while a question is open.
    """

    id: str
    level: Level
    rule: str
    page: str
    play: Callable[[Client], Awaitable[None]]
    cancels: bool = False


SCENARIOS: dict[str, Scenario] = {}
_Play = Callable[[Client], Awaitable[None]]


def _scenario(level: Level, page: str, *, cancels: bool = False) -> Callable[[_Play], _Play]:
    """Add a scenario. The function's docstring is the rule, its name the id."""

    def add(play: _Play) -> _Play:
        id = getattr(play, "__name__", "").replace("_", "-")
        SCENARIOS[id] = Scenario(id, level, getdoc(play) or "", f"/protocol/v1/{page}", play, cancels)
        return play

    return add


def _update(kind: str, **fields: Any) -> Json:
    return {"method": "session/update", "params": {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}}}


def _text(text: str) -> Json:
    return _update("agent_message_chunk", content={"type": "text", "text": text})


# How a connection begins


@_scenario("MUST", "transports#stdio")
async def messages(client: Client) -> None:
    """The client writes nothing but valid messages, one a line."""
    prompt = await client.prompted()
    client.send(_text("Hello"))
    await client.ask_for_permission()
    await client.end_turn()
    calls: dict[str, str] = {}
    for _, direction, line in client.entries:
        message = parse(line) or {}
        if direction == "a2c" and "method" in message:
            calls[json.dumps(message.get("id"))] = message["method"]
        elif direction == "c2a":
            call = "" if "method" in message else calls.get(json.dumps(message.get("id")), "")
            if fault := check_line(AGENT_SIDE, line, call).fault:
                raise Unmet(f"a line is not valid: {fault}")
    cwd = client.params("session/new").get("cwd")
    if not Path(str(cwd)).is_absolute():
        raise Unmet(f"`cwd` of session/new is not an absolute path: {cwd!r}")
    text = "".join(block.get("text", "") for block in prompt["params"]["prompt"])
    if client.is_prompted and PROMPT not in text:
        raise Unmet(f"the prompt is not {PROMPT!r}, but {text!r}")


@_scenario("MUST", "initialization")
async def initialize_first(client: Client) -> None:
    """Nothing is called before `initialize` is answered."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize", "session/new", "session/prompt")
    await client.listen()
    if client.messages != [request] or request["method"] != "initialize":
        raise Unmet(f"the client has sent {_methods(client)} before the answer to initialize")
    client.send({"id": request["id"], "result": result})
    await client.end_turn()


@_scenario("SHOULD", "initialization")
async def initialize_silence(client: Client) -> None:
    """A client whose agent never answers gives up, at the latest at Ctrl-C."""
    del client.results["initialize"]
    await client.receive("initialize")
    await client.listen()
    client.interrupt()
    await client.wait_left("giving up")


@_scenario("SHOULD", "initialization#version-negotiation")
async def other_version(client: Client) -> None:
    """A client that doesn't know the version in the answer closes the connection."""
    result = client.results.pop("initialize")
    del client.results["session/new"]
    request = await client.receive("initialize")
    client.send({"id": request["id"], "result": {**result, "protocolVersion": 65535}})
    await client.wait_left("closing the connection", instead_of=("session/new", "session/prompt"))


@_scenario("MUST", "initialization#capabilities")
async def unadvertised(client: Client) -> None:
    """What the agent doesn't advertise is not used."""
    prompt = await client.prompted()
    await client.end_turn()
    used = [each for each in _methods(client) if each not in _BASELINE and not each.startswith("_")]
    used += [f"content of type {block['type']}" for block in prompt["params"]["prompt"] if block["type"] not in _TYPES]
    opening = client.params("session/new")
    used += [f"MCP servers over {each['type']}" for each in opening.get("mcpServers", []) if "type" in each]
    used += ["additionalDirectories"] if opening.get("additionalDirectories") else []
    if used:
        raise Unmet(f"the agent advertises nothing, but the client uses {', '.join(used)}")


_BASELINE = ("initialize", "session/new", "session/prompt", "session/cancel", "$/cancel_request")
_TYPES = ("text", "resource_link")


# What clients have to live with


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def updates_before_session(client: Client) -> None:
    """Updates may come before the answer to session/new."""
    result = client.results.pop("session/new")
    request = await client.receive("session/new")
    commands = _update("available_commands_update", availableCommands=[{"name": "go", "description": "Go"}])
    client.send(commands, _text("Welcome"), {"id": request["id"], "result": result})
    await client.end_turn()


@_scenario("SHOULD", "prompt-turn#3-agent-reports-output")
async def late_update(client: Client) -> None:
    """An update after the answer to a prompt does no harm."""
    await client.prompted()
    await client.end_turn(_text("One more thing"))


@_scenario("SHOULD", "extensibility")
async def unknown_update(client: Client) -> None:
    """An update of an unknown kind is ignored."""
    await client.prompted()
    client.send(_update("weather_update", forecast={"tomorrow": "sunny"}), _text("Hello"))
    await client.end_turn()


@_scenario("SHOULD", "extensibility#custom-notifications")
async def unknown_notification(client: Client) -> None:
    """Unknown notifications are ignored."""
    await client.prompted()
    client.send({"method": "_acp_bindings/note", "params": {"a": 1}}, {"method": "session/paint", "params": {}})
    await client.end_turn()


@_scenario("SHOULD", "extensibility")
async def unknown_keys(client: Client) -> None:
    """Unknown keys, which later versions may add, are ignored."""
    await _with_keys(client, {"weather": {"tomorrow": ["sunny"]}})


@_scenario("MUST", "extensibility#the-_meta-field")
async def meta(client: Client) -> None:
    """Nothing is assumed about what `_meta` holds."""
    await _with_keys(client, {"_meta": {"traceparent": None, "acp-bindings/deep": [{"a": 1.5}], "": False}})


async def _with_keys(client: Client, keys: Json) -> None:
    for result in client.results.values():
        result.update(keys)
    client.results["initialize"]["agentCapabilities"] |= keys
    await client.prompted()
    update = _update("agent_message_chunk", content={"type": "text", "text": "Hello", **keys}, **keys)
    update["params"] |= keys
    permission = client.permission()
    for part in (permission["params"], permission["params"]["toolCall"], *permission["params"]["options"]):
        part.update(keys)
    client.send(update, permission)
    await client.answer(permission["id"], permission["method"])
    await client.end_turn()


@_scenario("MUST", "transports#stdio")
async def long_line(client: Client) -> None:
    """A message is a line of any length. Here it has 1 MiB."""
    await client.prompted()
    permission = client.permission()
    permission["params"]["toolCall"]["rawInput"] = {"text": "x" * 2**20}
    client.send(permission)
    await client.answer(permission["id"], permission["method"])
    await client.end_turn()


@_scenario("MUST", "transports")
async def split_characters(client: Client) -> None:
    """Messages are UTF-8, wherever the system cuts the stream: here inside a character."""
    await client.prompted()
    permission = client.permission("ça")
    await client.send_in_pieces(permission, encode(permission).index("ç".encode()) + 1)
    await client.answer("ça", permission["method"])
    await client.end_turn()


@_scenario("SHOULD", "transports#stdio")
async def noise(client: Client) -> None:
    """Lines that are not JSON, which an agent must not write, do no harm."""
    result = client.results.pop("initialize")
    request = await client.receive("initialize")
    client.send(b"npm warn deprecated\n", {"id": request["id"], "result": result})
    await client.prompted()
    client.send(b"[1] loading {model}...\n", _text("Hello"))
    await client.end_turn()


@_scenario("MUST", "overview#communication-model")
async def prompt_error(client: Client) -> None:
    """A prompt that is answered with an error ends, too."""
    prompt = await client.prompted()
    client.send({"id": prompt["id"], "error": {"code": -32603, "message": "quota", "data": {"details": "quota"}}})
    await client.see_end(any_code=True)


@_scenario("SHOULD", "transports#stdio")
async def agent_dies(client: Client) -> None:
    """A client whose agent dies during a prompt doesn't wait for it."""
    await client.prompted()
    client.send(_text("Oh"))
    if client.by_hand:
        raise NotTried("the client stays open: look at what it says when its agent ends")
    client.leave()
    await client.see_end(any_code=True)


# Requests to the client


@_scenario("MUST", "extensibility#custom-requests")
async def unknown_request(client: Client) -> None:
    """Each request is answered, an unknown one, too."""
    await client.prompted()
    await client.ask("_acp_bindings/unknown", a=1)
    await client.ask("session/paint", sessionId=SESSION)
    await client.end_turn()


@_scenario("SHOULD", "extensibility#custom-requests")
async def method_not_found(client: Client) -> None:
    """The answer to an unknown request is the error -32601."""
    await client.prompted()
    for method in ("_acp_bindings/unknown", "session/paint"):
        answer = await client.ask(method, sessionId=SESSION)
        if (answer.get("error") or {}).get("code") != -32601:
            raise Unmet(f"{method} was answered with {_short(answer)}")
    await client.end_turn()


@_scenario("MUST", "schema#requestid")
async def string_ids(client: Client) -> None:
    """An answer has the id of its request: a text stays a text."""
    await client.prompted()
    for id in ("31", "a b", 0, "0"):
        await client.ask_for_permission(id)
    await client.end_turn()


@_scenario("MUST", "overview#communication-model")
async def parallel_requests(client: Client) -> None:
    """Requests in parallel are each answered once."""
    await client.prompted()
    requests = [client.permission() for _ in range(3)]
    client.send(*requests)
    for request in requests:
        await client.answer(request["id"], request["method"])
    await client.end_turn()
    answers = [each["id"] for each in client.messages if "method" not in each]
    if len(answers) != len(set(answers)):
        raise Unmet("a request was answered twice")


@_scenario("MUST", "overview#communication-model")
async def unknown_session(client: Client) -> None:
    """A request for a session that the client doesn't know is answered."""
    await client.prompted()
    await client.ask_for_permission(session="session-of-somebody-else")
    await client.end_turn()


@_scenario("MUST", "tool-calls#requesting-permission")
async def permission_option(client: Client) -> None:
    """The answer to a permission request is one of its options."""
    await client.prompted()
    for place in range(len(KINDS)):
        kinds = KINDS[place:] + KINDS[:place]
        answer = await client.ask_for_permission(kinds=kinds)
        if _chosen(answer) not in ("cancelled", *_ids(kinds)):
            raise Unmet(f"the options are {', '.join(_ids(kinds))}, but the answer is {_short(answer)}")
    await client.end_turn()


@_scenario("SHOULD", "tool-calls#permission-options")
async def permission_kind(client: Client) -> None:
    """An option is chosen by what it means, not by its place."""
    await client.prompted()
    if client.by_hand or client.answer_typed:
        raise NotTried("a user chooses")
    chosen = [_chosen(await client.ask_for_permission(kinds=kinds)) for kinds in (KINDS, KINDS[::-1])]
    if not {*chosen} <= {*_ids(KINDS)}:
        raise NotTried("the client chooses no option")
    if len({option.partition("_")[0] for option in chosen}) > 1:
        raise Unmet(f"the client has chosen {chosen[0]}, then {chosen[1]} when the order was the reverse")
    await client.end_turn()


@_scenario("MUST", "prompt-turn#cancellation", cancels=True)
async def cancel(client: Client) -> None:
    """A client that cancels a turn answers its open permission requests with `cancelled`."""
    await client.prompted()
    permission = client.permission()
    client.send(_text("Please cancel this turn while the question is open."), permission)
    await client.listen()
    if any("method" not in each for each in client.messages):
        raise NotTried("the client has answered the permission request by itself")
    client.interrupt()
    try:
        await client.receive("session/cancel")
    except Unmet as reason:
        raise NotTried(f"{reason}, which it may send") from None
    answer = await client.answer(permission["id"], permission["method"])
    if _chosen(answer) != "cancelled":
        raise Unmet(f"the permission request was answered with {_short(answer)}")
    client.send(_update("tool_call_update", toolCallId="call-1", status="failed"))
    await client.end_turn(reason="cancelled", any_code=True)


# What the client advertises


@_scenario("MUST", "file-system")
async def files(client: Client) -> None:
    """Files can be read and written as far as the client advertises it."""
    await client.prompted()
    fs = client.capabilities.get("fs") or {}
    folder = Path(client.params("session/new")["cwd"])
    if not fs.get("readTextFile") and not fs.get("writeTextFile"):
        raise NotTried("the client doesn't advertise files")
    if fs.get("readTextFile"):
        with NamedTemporaryFile("w", encoding="utf-8", newline="", prefix="acp-bindings-", dir=folder) as file:
            file.write("one\ntwo: ça va\nthree\n")
            file.flush()
            for given, wanted in (({}, "one\ntwo: ça va\nthree"), ({"line": 2, "limit": 1}, "two: ça va")):
                answer = await client.ask("fs/read_text_file", sessionId=SESSION, path=file.name, **given)
                if str(_result(answer).get("content")).removesuffix("\n") != wanted:
                    raise Unmet(f"the file was read as {_short(answer)}")
    if fs.get("writeTextFile"):
        path = folder / "acp-bindings-check-client.txt"
        try:
            params = {"sessionId": SESSION, "path": str(path), "content": "ça va"}
            _allowed(await client.ask("fs/write_text_file", **params))
            if not path.exists() or path.read_text("utf-8") != "ça va":
                raise Unmet(f"{path} was not written")
        finally:
            path.unlink(missing_ok=True)
    await client.end_turn()


@_scenario("MUST", "terminals")
async def terminal(client: Client) -> None:
    """Commands run if the client advertises it; output is cut between characters."""
    await client.prompted()
    if not client.capabilities.get("terminal"):
        raise NotTried("the client doesn't advertise terminals")
    args = ["-X", "utf8", "-c", "print('ç' * 50, end='')"]
    created = await client.ask(
        "terminal/create", sessionId=SESSION, command=sys.executable, args=args, outputByteLimit=51
    )
    given = {"sessionId": SESSION, "terminalId": _allowed(created).get("terminalId")}
    ended = _result(await client.ask("terminal/wait_for_exit", **given))
    output = _result(await client.ask("terminal/output", **given))
    _result(await client.ask("terminal/release", **given))
    if ended.get("exitCode") != 0:
        raise Unmet(f"the command ended with {_short(ended)}")
    text = str(output.get("output"))
    if not text or text.strip("ç") or len(text) > 25 or not output.get("truncated"):
        raise Unmet(f"the output, of which 51 bytes were wanted, is {_short(output)}")
    await client.end_turn()


def _methods(client: Client) -> list[str]:
    return [str(each["method"]) for each in client.messages if "method" in each]


def _ids(kinds: Iterable[str]) -> list[str]:
    return [f"my-{kind}" for kind in kinds]


def _chosen(answer: Json) -> str:
    """Return the id of the option that was chosen, or `cancelled`."""
    outcome = (answer.get("result") or {}).get("outcome") or {}
    return str(outcome.get("optionId" if outcome.get("outcome") == "selected" else "outcome"))


def _allowed(answer: Json) -> Json:
    if "error" in answer:
        raise NotTried(f"the client refuses it: {_short(answer)}")
    return _result(answer)


def _result(answer: Json) -> Json:
    if "error" in answer:
        raise Unmet(f"the answer is {_short(answer)}")
    return answer.get("result") or {}


def _short(message: Json) -> str:
    text = json.dumps(message.get("error") or message.get("result") or message, ensure_ascii=False)
    return text if len(text) < 200 else f"{text[:197]}..."
