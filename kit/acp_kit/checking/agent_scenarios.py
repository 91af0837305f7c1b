"""The scenarios for agents: conversations of a client with the agent under test."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from acp_bindings.v1 import connecting as v1
from acp_bindings.v2_draft import connecting as v2_draft
from acp_kit.checking.agent import Agent
from acp_kit.checking.common_scenarios import COMMON_SCENARIOS
from acp_kit.checking.peer import INFO, Json, Skipped, Violation, short, with_keys
from acp_kit.checking.scenario import Play, Scenarios
from acp_kit.common.json_values import items_of, member

AGENT_SCENARIOS = Scenarios()
_scenario = AGENT_SCENARIOS.add

_STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal")
_MAX_SHOWN = 5


# How a connection begins and ends


@_scenario("MUST", "transports#stdio")
async def messages(agent: Agent) -> None:
    """The agent writes only valid messages, one a line, and a turn ends with a stop reason."""
    with agent.checking_lines():
        session = await agent.open()
        reason = await agent.run(agent.prompt_request(session))
        await asyncio.sleep(agent.quiet_time)
    if reason not in _STOP_REASONS:
        raise Violation(f"the turn ends with {reason!r}")
    named = [member(message, "params", "sessionId") for message in agent.messages if "method" in message]
    if others := [id for id in named if id not in (session, None)]:
        raise Violation(f"there are messages for other sessions than {session!r}: {others[:_MAX_SHOWN]}")


@_scenario("SHOULD", "initialization")
async def initialize_first(agent: Agent) -> None:
    """A session can't be opened before `initialize`."""
    answer = await agent.request(agent.session_request())
    if "error" not in answer:
        raise Violation(f"session/new before initialize was answered with {short(answer)}")


@_scenario("MUST", "initialization#version-negotiation")
async def other_version(agent: Agent) -> None:
    """Asked for a version that it doesn't support, the agent answers with the latest that it supports."""
    request = agent.initialize_request(65535)
    request["params"].update(clientCapabilities={}, clientInfo=INFO)
    answer = await agent.request(request)
    version = member(answer, "result", "protocolVersion")
    if not isinstance(version, int) or version == 65535:
        raise Violation(f"asked for version 65535, the agent answers {short(answer)}")


@_scenario("MUST", "initialization#capabilities")
async def unadvertised(agent: Agent) -> None:
    """The agent uses only what the client advertises. This client advertises nothing."""
    await agent.run(agent.prompt_request(await agent.open()))
    side = v1.CLIENT_SIDE if agent.version == 1 else v2_draft.CLIENT_SIDE
    methods = {**side.requests, **side.notifications}
    used = [method for method in agent.methods() if method in methods and methods[method].capability is not None]
    used += ["a login in a terminal" for login in agent.logins() if member(login, "type") == "terminal"]
    options = items_of(agent.opened, "configOptions")
    used += ["a boolean config option" for option in options if member(option, "type") == "boolean"]
    if used:
        raise Violation(f"the agent uses {', '.join(used)}")


@_scenario("SHOULD", "transports#stdio")
async def exit(agent: Agent) -> None:
    """The agent exits when its stdin is closed."""
    await agent.open()
    await agent.wait_for_exit()


# What clients send


def _around_opening(function: Play) -> Play:
    """Return a conversation in which the function plays what happens before a session is opened."""

    async def play(agent: Agent) -> None:
        await agent.initialize()
        await function(agent)
        await agent.open()

    return play


AGENT_SCENARIOS.include(COMMON_SCENARIOS, around=_around_opening)


async def _with_keys(agent: Agent, keys: Json) -> None:
    await agent.initialize()
    opening = agent.session_request()
    opening["params"] = with_keys(opening["params"], keys)
    session = (await agent.result_of_opening(opening))["sessionId"]
    prompt = agent.prompt_request(session)
    prompt["params"] = with_keys(prompt["params"], keys)
    await agent.run(prompt)


@_scenario("SHOULD", "extensibility")
async def unknown_keys(agent: Agent) -> None:
    """Unknown keys, which later versions may add, are ignored."""
    await _with_keys(agent, {"weather": {"tomorrow": ["sunny"]}})


@_scenario("MUST", "extensibility#the-_meta-field")
async def meta(agent: Agent) -> None:
    """`_meta` may have any content."""
    await _with_keys(agent, {"_meta": {"traceparent": None, "acp-bindings/deep": [{"a": 1.5}], "": False}})


@_scenario("SHOULD", "transports#stdio")
async def noise(agent: Agent) -> None:
    """A line that isn't JSON does no harm, though a client must not write it."""
    await agent.initialize()
    agent.send(b"[1] loading {model}...\n")
    await agent.open()


@_scenario("SHOULD", "overview#communication-model")
async def invalid_params(agent: Agent) -> None:
    """Invalid params are answered with the error -32602, and the connection stays usable."""
    await agent.open()
    await _expect_error(agent, agent.request_of("session/prompt", sessionId=7, prompt="hello"), -32602)
    await agent.open()


@_scenario("MUST", "session-setup#session-id")
async def parallel_requests(agent: Agent) -> None:
    """Each of several parallel requests gets a response, and each session an id of its own."""
    await agent.open()
    requests = [agent.session_request() for _ in range(3)]
    agent.send(*requests)
    answers = [await agent.response_to(request) for request in requests]
    sessions = [member(answer, "result", "sessionId") for answer in answers]
    if len({*sessions}) != len(sessions):
        raise Violation(f"the sessions have the ids {sessions}")


@_scenario("SHOULD", "overview#communication-model")
async def unknown_session(agent: Agent) -> None:
    """A prompt for an unknown session is answered with an error."""
    await agent.open()
    await _expect_error(agent, agent.prompt_request("session-of-somebody-else"))


# Turns


@_scenario("MUST", "initialization#prompt-capabilities")
async def resource_link(agent: Agent) -> None:
    """Each agent accepts links to resources in prompts."""
    session = await agent.open()
    link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"}
    await agent.run(agent.prompt_request(session, None, link))


@_scenario("MUST", "initialization#prompt-capabilities")
async def prompt_content(agent: Agent) -> None:
    """The agent accepts the content in prompts that it advertises."""
    session = await agent.open()
    advertised = agent.capability("promptCapabilities") if agent.version == 1 else agent.capability("session", "prompt")
    supported = [block for name, block in _CONTENT.items() if member(advertised, name) not in (None, False)]
    if not supported:
        raise Skipped("the agent advertises no other content than text and links")
    for block in supported:
        await agent.run(agent.prompt_request(session, None, block))


_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
_CONTENT: dict[str, Json] = {
    "image": {"type": "image", "mimeType": "image/png", "data": _PIXEL},
    "audio": {"type": "audio", "mimeType": "audio/wav", "data": _SILENCE},
    "embeddedContext": {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "milk"}},
}


@_scenario("MUST", "prompt-turn#cancellation")
async def cancel(agent: Agent) -> None:
    """A cancelled turn ends with the stop reason `cancelled`, and not with an error."""
    session = await agent.open()
    prompt = agent.prompt_request(session, agent.command.long_prompt)
    agent.send(prompt)
    with suppress(TimeoutError):  # an update says that the turn is under way
        async with asyncio.timeout(agent.quiet_time):
            while member(await agent.receive("session/update"), "params", "sessionId") != session:
                pass
    agent.send({"method": "session/cancel", "params": {"sessionId": session}})
    answer = await agent.response_to(prompt)
    if "error" in answer:
        raise Violation(f"the cancelled prompt was answered with {short(answer)}")
    reason = await agent.stop_reason(answer)
    if reason in _STOP_REASONS:
        raise Skipped(f"the turn has ended with {reason} before it could be cancelled. Pass a longer --long-prompt")
    if reason != "cancelled":
        raise Violation(f"the cancelled turn has ended with {reason!r}")
    count = len(agent.updates(session))
    await asyncio.sleep(agent.quiet_time)
    if agent.version == 1 and len(agent.updates(session)) > count:
        raise Violation("after the response to the cancelled prompt, the agent has sent updates")


# Sessions


@_scenario("MUST", "session-modes", versions=[1])
async def modes(agent: Agent) -> None:
    """The current mode is one of the modes, and another one can be set."""
    session = await agent.open()
    ids = [member(mode, "id") for mode in items_of(agent.opened, "modes", "availableModes")]
    if not ids:
        raise Skipped("the session has no modes")
    if member(agent.opened, "modes", "currentModeId") not in ids:
        raise Violation(f"the mode {member(agent.opened, 'modes', 'currentModeId')!r} is none of {ids}")
    for id in reversed(ids):
        await agent.call("session/set_mode", sessionId=session, modeId=id)


@_scenario("MUST", "session-config-options")
async def config_options(agent: Agent) -> None:
    """A config option can be set to another value. The response has all options, with this value."""
    session = await agent.open()
    key = "id" if agent.version == 1 else "configId"
    type = {} if agent.version == 1 else {"type": "id"}
    offered = _options_of(agent.opened, key)
    if not offered:
        raise Skipped("the session has no config options")
    for id, option in offered.items():
        values = _values_of(option)
        current = member(option, "currentValue")
        if values and current not in values:
            raise Violation(f"{id} is {current!r}, which is none of {values}")
        for value in [value for value in values if value != current][:1]:
            result = await agent.call("session/set_config_option", sessionId=session, configId=id, value=value, **type)
            options = {id: member(item, "currentValue") for id, item in _options_of(result, key).items()}
            if options.get(id) != value or options.keys() != offered.keys():
                raise Violation(f"{id} was set to {value!r}, but the response has {options}")


def _options_of(result: Json, key: str) -> Json:
    """Return the config options in a result by their ids. Clients ignore those without an id."""
    options = items_of(result, "configOptions")
    return {option[key]: option for option in options if isinstance(member(option, key), str)}


def _values_of(option: Json) -> list[Any]:
    """Return the values of an option, also of one with groups."""
    items = items_of(option, "options")
    return [member(item, "value") for group in items for item in (items_of(group, "options") or [group])]


@_scenario("MUST", "session-list")
async def list_sessions(agent: Agent) -> None:
    """Sessions are listed. In a directory without sessions there are none."""
    await agent.open()
    _require(agent, "list")
    result = await agent.call("session/list", cwd=agent.cwd)
    if not isinstance(member(result, "sessions"), list):
        raise Violation(f"session/list was answered with {result}")
    elsewhere = await agent.call("session/list", cwd=f"{agent.cwd}/empty")
    if listed := items_of(elsewhere, "sessions"):
        raise Violation(f"a directory without sessions has {len(listed)}")
    agent.check_lines(noise=False)


@_scenario("MUST", "session-setup#loading-sessions", versions=[1])
async def load(agent: Agent) -> None:
    """A session with a turn can be loaded. Its history comes before the response."""
    session = await agent.open()
    if agent.capability("loadSession") is not True:
        raise Skipped("the agent doesn't advertise loadSession")
    await agent.run(agent.prompt_request(session))
    await agent.call("session/load", sessionId=session, cwd=agent.cwd, mcpServers=[])
    count = len(_history(agent, session))
    await asyncio.sleep(agent.quiet_time)
    if len(_history(agent, session)) > count:
        raise Violation("after the response to session/load, the agent has sent history")
    await _expect_error(
        agent, agent.request_of("session/load", sessionId="session-of-somebody-else", cwd=agent.cwd, mcpServers=[])
    )
    agent.check_lines(noise=False)


@_scenario("MUST", "session-setup#resuming-sessions")
async def resume(agent: Agent) -> None:
    """A session with a turn can be resumed. Its history is not sent again."""
    session = await agent.open()
    _require(agent, "resume")
    await agent.run(agent.prompt_request(session))
    count = len(_history(agent, session))
    await agent.call("session/resume", sessionId=session, cwd=agent.cwd)
    if len(_history(agent, session)) > count:
        raise Violation("before the response to session/resume, the agent has sent history")
    agent.check_lines(noise=False)


@_scenario("MUST", "session-setup#closing-active-sessions")
async def close(agent: Agent) -> None:
    """Closing a session ends its turn like a cancellation."""
    session = await agent.open()
    _require(agent, "close")
    prompt = agent.prompt_request(session, agent.command.long_prompt)
    agent.send(prompt)
    await asyncio.sleep(agent.quiet_time / 2)
    await agent.call("session/close", sessionId=session)
    answer = await agent.response_to(prompt)
    if agent.version == 1 and member(answer, "result", "stopReason") not in ("cancelled", *_STOP_REASONS):
        raise Violation(f"the prompt of the closed session was answered with {short(answer)}")
    agent.check_lines(noise=False)


@_scenario("MUST", "session-delete")
async def delete(agent: Agent) -> None:
    """A session can be deleted. Then it is not listed."""
    session = await agent.open()
    sessions = "sessionCapabilities" if agent.version == 1 else "session"
    if agent.capability(sessions, "delete") is None:
        raise Skipped("the agent doesn't advertise delete")
    await agent.call("session/delete", sessionId=session)
    if agent.version == 2 or agent.capability("sessionCapabilities", "list") is not None:
        result = await agent.call("session/list")
        if session in [member(info, "sessionId") for info in items_of(result, "sessions")]:
            raise Violation("the deleted session is listed")
    agent.check_lines(noise=False)


def _require(agent: Agent, name: str) -> None:
    """Skip the scenario if the agent doesn't advertise a method, which is part of every session in version 2."""
    if agent.version == 1 and agent.capability("sessionCapabilities", name) is None:
        raise Skipped(f"the agent doesn't advertise {name}")


def _history(agent: Agent, session: str) -> list[Json]:
    return [update for update in agent.updates(session) if "message" in str(member(update, "sessionUpdate"))]


async def _expect_error(agent: Agent, request: Json, code: int | None = None) -> None:
    answer = await agent.request(request)
    if "error" not in answer or code not in (None, member(answer, "error", "code")):
        raise Violation(f"{request['method']} was answered with {short(answer)}")
