"""Rules 27 and 28 for places inside of messages: in params and in results, when they are sent and when they arrive."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from importlib import import_module
from types import GenericAlias
from typing import Any
from weakref import ref

import pytest

from acp_bindings import v1, v1_unstable, v2_draft
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_bindings.v2_draft.connecting import CLIENT_SIDE as V2_CLIENT_SIDE
from acp_bindings.v2_draft.methods import SESSION_PROMPT
from acp_runtime import CapabilityError, GuardError, Model, Options, RelativePath
from acp_runtime.connection import places
from acp_runtime.connection.places import MessagePlaces
from acp_runtime.connection.state import ProtocolState
from acp_runtime.stubs.facts import Absolute, Needs, Unsupported
from acp_runtime.stubs.methods import Request
from tests.runtime.connection.v2_peer import AgentV2, serving_v2
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.any_profile import agent_of, client_of, opening
from tests.support.runtime.peer import Link, Peer, PlainAgent, PlainClient, calling, serving

Sent = Callable[[Any], Awaitable[Any]]


async def _error_of(profile: Any, send: Sent, client: dict[str, Any], **agent: Any) -> GuardError | None:
    """Return the error when an agent's handler of a prompt calls `send` with its client; None if there is none.

    Args:
        client: the client's capabilities.
        agent: the handlers of the agent.
    """
    errors: list[GuardError | None] = []

    async def session_prompt(self: Any, request: Any, /) -> Any:
        try:
            await send(self.client)
        except GuardError as error:
            errors.append(error)
        else:
            errors.append(None)
        return profile.PromptResponse(stop_reason="end_turn")

    async def ignore(self: Any, request: Any, /) -> None: ...

    async def cancel(self: Any, request: Any, /) -> Any:
        return profile.CreateElicitationResponseCancel()

    sender = type("Sender", (agent_of(profile),), {"session_prompt": session_prompt} | agent)
    receiver = type("R", (client_of(profile, []),), {"session_update": ignore, "elicitation_create": cancel})
    async with profile.connect_in_process(sender, receiver) as remote:
        await remote.initialize(
            protocol_version=1, client_capabilities=profile.ClientCapabilities.model_validate(client)
        )
        await remote.session_new(cwd="/", mcp_servers=[])
        await remote.session_prompt(session_id="s1", prompt=[profile.ContentBlockText(text="x")])
    return errors[0]


def _update(update: Any) -> Sent:
    return lambda client: client.session_update(session_id="s1", update=update)


BOOLEAN = v1.SessionConfigOptionBoolean(id="b", name="b", current_value=True)
PLAN = v1_unstable.PlanUpdateContentItems(plan_id="p", entries=[])
PATHS = [v1.ToolCallLocation(path="/x"), v1.ToolCallLocation(path="relative")]
# An update, the capability that it needs, and how a client advertises it.
UPDATES: dict[str, tuple[Any, Any, str, Any]] = {
    "a notice": (
        v1,
        v1.SessionUpdateNotice(severity="info", title="x"),
        "clientCapabilities.session.notices",
        {"session": {"notices": {}}},
    ),
    "a compaction": (
        v1,
        v1.SessionUpdateCompactionUpdate(compaction_id="c", status="in_progress"),
        "clientCapabilities.session.compaction",
        {"session": {"compaction": {}}},
    ),
    "one of several config options": (
        v1,
        v1.SessionUpdateConfigOptionUpdate(
            config_options=[
                v1.SessionConfigOptionSelect(id="a", name="a", current_value="v", options=[]),
                BOOLEAN,
            ]
        ),
        "clientCapabilities.session.configOptions.boolean",
        {"session": {"configOptions": {"boolean": {}}}},
    ),
    "an unstable update": (
        v1_unstable,
        v1_unstable.SessionUpdatePlanUpdate(plan=PLAN),
        "clientCapabilities.plan",
        {"plan": {}},
    ),
}


@pytest.mark.parametrize(("profile", "update", "capability", "advertised"), UPDATES.values(), ids=UPDATES)
async def test_rule_27_an_update_is_sent_only_to_a_client_that_advertised_it(
    profile: Any, update: Any, capability: str, advertised: Any
) -> None:
    error = await _error_of(profile, _update(update), {})
    assert isinstance(error, CapabilityError)
    assert error.capability == capability
    assert error.method.startswith("session/update with update.")
    assert await _error_of(profile, _update(update), advertised) is None


async def test_rule_27_an_unknown_mode_of_elicitation_is_never_sent() -> None:
    client = {"elicitation": {"form": {}, "url": {}}}
    error = await _error_of(
        v1, lambda client: client.elicitation_create(mode="_voice", session_id="s1", message="m"), client
    )
    assert isinstance(error, CapabilityError)
    assert error.method == "elicitation/create with mode.*"


async def test_rule_27_a_result_beyond_the_clients_capabilities_is_an_error_and_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Options(PlainAgent):
        async def session_new(self, request: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id="s", config_options=[BOOLEAN])

    new = {"cwd": "/", "mcpServers": []}
    async with serving(link, Options) as peer:
        assert (await peer.call("session/new", new))["error"]["code"] == -32603
        assert "The result of session/new with configOptions.boolean needs" in caplog.text
        capabilities = {"session": {"configOptions": {"boolean": {}}}}
        await peer.call("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
        assert (await peer.call("session/new", new))["result"]["configOptions"][0]["type"] == "boolean"
    caplog.clear()
    async with serving(link, Options, guards="off") as peer:
        assert (await peer.call("session/new", new))["result"]["configOptions"][0]["type"] == "boolean"
    assert caplog.records == []


async def test_rule_27_logins_in_the_terminal_are_offered_only_to_clients_that_advertised_them(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class OwnMethod(v1.AuthMethodTerminal):
        """A class of the application."""

    methods = [
        v1.AuthMethodTerminal(id="a", name="a"),
        v1.AuthMethodAgent(id="b", name="b"),
        OwnMethod(id="c", name="c"),
        v1.AuthMethodTerminal(id="d", name="d"),
    ]

    class Terminal(PlainAgent):
        async def initialize(self, request: v1.InitializeRequest, /) -> v1.InitializeResponse:
            return v1.InitializeResponse(protocol_version=1, auth_methods=methods)

    async def offered(peer: Peer, *, terminal: bool) -> list[str]:
        opening = {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": terminal}}}
        result = (await peer.call("initialize", opening))["result"]
        return [method["id"] for method in result["authMethods"]]

    async with serving(link, Terminal, ready=False) as peer:
        assert await offered(peer, terminal=False) == ["b"]
        assert "Left authMethods.terminal out" in caplog.text
        assert await offered(peer, terminal=True) == ["a", "b", "c", "d"]
    async with serving(link, Terminal, ready=False, guards="warn") as peer:
        assert await offered(peer, terminal=False) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ({"additional_directories": []}, None),
        ({"system_prompt": None}, None),
        ({"mcp_servers": (v1_unstable.McpServerAcp(name="x", server_id="i"),)}, "mcpServers.acp"),
        ({"system_prompt": v1_unstable.SystemPrompt(mode="append", content=[])}, "systemPrompt"),
    ],
    ids=["an empty list", "null", "a member of a union", "a property"],
)
async def test_rule_27_only_present_values_need_a_capability(arguments: Any, missing: str | None) -> None:
    async with v1_unstable.connect_in_process(agent_of(v1_unstable), client_of(v1_unstable, [])) as agent:
        await agent.initialize(protocol_version=1)
        call = agent.session_new(**{"cwd": "/", "mcp_servers": []} | arguments)
        if missing is None:
            await call
        else:
            with pytest.raises(CapabilityError, match=f"session/new with {missing} needs"):
                await call


async def test_rule_27_a_value_can_need_a_capability() -> None:
    class Prompted(agent_of(v1_unstable)):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            response = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"systemPrompt": {}}}}
            return v1_unstable.InitializeResponse.model_validate(response)

    async with v1_unstable.connect_in_process(Prompted, client_of(v1_unstable, [])) as agent:
        await agent.initialize(protocol_version=1)
        for mode in ("append", "_other"):
            prompt = v1_unstable.SystemPrompt(mode=mode, content=[])
            await agent.session_new(cwd="/", mcp_servers=[], system_prompt=prompt)
        prompt = v1_unstable.SystemPrompt(mode="override", content=[])
        with pytest.raises(CapabilityError, match=r"session/new with systemPrompt\.mode\.override"):
            await agent.session_new(cwd="/", mcp_servers=[], system_prompt=prompt)


# What arrives


async def test_rule_27_an_update_that_this_client_did_not_advertise_is_logged_and_handled(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    notice = {"sessionUpdate": "notice", "severity": "info", "title": "x"}
    factory = RecordingFactory(PlainClient)
    async with calling(link, factory) as (_, peer):
        for _ in range(20):
            await peer.send({"method": "session/update", "params": {"sessionId": "s", "update": notice}})
        assert await peer.until_quiet() == []
    assert len(factory.handler.updates) == 20
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings[0] == (
        "The peer broke the protocol with update.notice in session/update: "
        "Needs 'clientCapabilities.session.notices', which this side did not advertise"
    )
    assert len(warnings) < 10


@pytest.mark.parametrize(("guards", "is_logged"), [("raise", True), ("off", False)])
async def test_rule_27_a_result_beyond_this_clients_capabilities_is_logged_and_returned(
    link: Link, caplog: pytest.LogCaptureFixture, guards: str, is_logged: bool
) -> None:
    async with calling(link, guards=guards) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[]))
        option = json.loads(BOOLEAN.model_dump_json())
        await peer.answer(result={"sessionId": "s", "configOptions": [option]})
        assert (await call).config_options == [BOOLEAN]
    said = "The peer broke the protocol with configOptions.boolean in session/new"
    assert [record.getMessage().startswith(said) for record in caplog.records] == [True] * is_logged


async def test_rule_28_a_relative_path_in_a_result_is_logged_and_returned(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link, capabilities={"sessionCapabilities": {"list": {}}}) as (agent, peer):
        call = asyncio.ensure_future(agent.session_list())
        result = {"sessions": [{"sessionId": "s", "cwd": "relative"}]}
        await peer.answer(result=result)
        assert (await call).sessions[0].cwd == "relative"
    assert "The peer broke the protocol with sessions.cwd in session/list" in caplog.text


def test_items_of_arrays_and_maps_are_in_the_place_of_the_field() -> None:
    class Folders(Model):
        paths: Any

    fact = Absolute("paths")
    find = MessagePlaces([fact]).find_violations
    for paths in (["/", "a"], [["/"], ["a"]], {"x": "/", "y": "a"}, [{"x": ["/", "a"]}], {"x": [{"y": "a"}]}):
        assert find(Folders.model_construct(paths=paths)) == {fact: "a"}
    for paths in ([], {}, [["/"], []], {"x": "/", "y": None}, [{"x": ["/"]}], Folders.model_construct(paths="a")):
        assert find(Folders.model_construct(paths=paths)) == {}


def test_each_tag_of_a_model_is_a_step() -> None:
    def find(update: Any) -> Any:
        notification = v2_draft.UpdateSessionNotification(session_id="s", update=update)
        return MessagePlaces([fact]).find_violations(notification)

    fact = Needs("update.state_update.running", "capabilities.states")
    running = v2_draft.SessionUpdateStateUpdateRunning()
    assert find(running) == {fact: running}
    assert find(v2_draft.SessionUpdateStateUpdateRequiresAction()) == {}
    assert find(v2_draft.SessionUpdateOther(session_update="_new")) == {}


def test_a_step_that_is_no_tag_of_a_member_is_none_of_its_fields() -> None:
    diff = v1.ToolCallContentDiff(path="relative", new_text="")
    message = v1.ToolCallUpdate(tool_call_id="t", content=[diff])
    assert MessagePlaces([Absolute("content.path")]).find_violations(message) == {}
    assert MessagePlaces([Absolute("content.diff.path")]).find_violations(message) != {}


def test_a_field_has_not_all_places_if_another_class_has_more() -> None:
    class Path(Model):
        path: str

    class PathAndFolder(Path):
        folder: str

    facts = [Absolute("path"), Absolute("folder")]
    places = MessagePlaces(facts)
    assert places.find_violations(Path(path="a")) == {facts[0]: "a"}
    assert places.only == ""
    assert places.find_violations(PathAndFolder(path="/", folder="a")) == {facts[1]: "a"}


class Item(Model):
    name: str


class Opened(Model):
    """A result that opens a connection."""

    folders: list[str] | None = None
    items: list[Item] | None = None
    name: str | None = None

    def model_copy(self, **_: Any) -> Any:
        pytest.fail("Something is left out.")


@pytest.mark.parametrize(
    ("fact", "result", "error"),
    [
        (Absolute("folders"), Opened(folders=["/", "a"]), RelativePath),
        (Needs("items.name", "x"), Opened(items=[Item(name="a")]), CapabilityError),
        (Needs("name", "x"), Opened(name="a"), CapabilityError),
        (Needs("", "x"), Opened(), CapabilityError),
    ],
    ids=["a path", "a field of an item", "a field", "the result"],
)
def test_rule_27_only_items_that_need_a_capability_are_left_out(
    fact: Any, result: Model, error: type[Exception]
) -> None:
    method = Request[Any, Any](wire="_open", params="", result="", side="agent", opens=True, result_facts=(fact,))
    state = ProtocolState(AGENT_SIDE, Options())
    with pytest.raises(error):
        state.check_result(method, v1.InitializeRequest(protocol_version=1), result)


async def test_rule_27_values_of_capabilities_that_this_client_advertises_later_are_no_longer_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    option = json.loads(BOOLEAN.model_dump_json())
    update = {"sessionUpdate": "notice", "severity": "info", "title": "x"}
    notice = {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    session: dict[str, Any] = {"configOptions": {"boolean": {}}, "notices": {}}
    capabilities = v1.ClientCapabilities.model_validate({"session": session})
    async with calling(link) as (agent, peer):

        async def answer(call: Awaitable[Any], result: Any) -> None:
            pending = asyncio.ensure_future(call)
            await peer.answer(result=result)
            await pending

        new = {"sessionId": "s", "configOptions": [option]}
        await peer.send(notice)
        await answer(agent.session_new(cwd="/", mcp_servers=[]), new)
        await answer(
            agent.initialize(protocol_version=1, client_capabilities=capabilities),
            {"protocolVersion": 1},
        )
        await answer(agent.session_new(cwd="/", mcp_servers=[]), new)
        await peer.send(notice)
        assert await peer.until_quiet() == []
    assert caplog.text.count("configOptions.boolean in session/new") == 1
    assert caplog.text.count("update.notice in session/update") == 1


STDIO = {"type": "stdio", "name": "x", "command": "/x", "args": [], "env": []}
NEW_V2 = {"cwd": "/", "mcpServers": []}
PROMPT_V2 = {"sessionId": "s1"}
REJECTED = {
    "content": ("session/prompt", PROMPT_V2 | {"prompt": [{"type": "image", "data": "", "mimeType": "image/png"}]}),
    "unknown content": ("session/prompt", PROMPT_V2 | {"prompt": [{"type": "_hologram"}]}),
    "a server": ("session/new", NEW_V2 | {"mcpServers": [STDIO]}),
    "an unknown server": ("session/new", NEW_V2 | {"mcpServers": [{"type": "quic", "name": "x"}]}),
    "an unknown cursor": ("session/resume", NEW_V2 | {"sessionId": "s1", "replayFrom": {"type": "later"}}),
    "an unknown setting": (
        "session/set_config_option",
        {"sessionId": "s1", "configId": "c", "type": "_dial", "value": 5},
    ),
}


class Agent(AgentV2):  # type: ignore[misc]
    async def session_prompt(self, request: Any, /) -> Any:
        return v2_draft.PromptResponse(message_id="m")

    async def session_resume(self, request: Any, /) -> Any:
        return v2_draft.ResumeSessionResponse()

    async def session_set_config_option(self, request: Any, /) -> Any:
        return v2_draft.SetSessionConfigOptionResponse(config_options=[])


@pytest.mark.parametrize(("method", "params"), REJECTED.values(), ids=REJECTED)
async def test_rule_27_an_agent_rejects_unsupported_content_where_version_2_says_so(
    link: Link, caplog: pytest.LogCaptureFixture, method: str, params: Any
) -> None:
    async with serving_v2(link, Agent) as peer:
        error = (await peer.call(method, params))["error"]
        assert error["code"] == -32602
        (fault,) = error["data"]["errors"]
        assert fault["message"].endswith(("which this side did not advertise", "does not support this type"))
    async with serving_v2(link, Agent, guards="warn") as peer:
        assert "result" in await peer.call(method, params)
    assert f"in {method}: {fault['message']}" in caplog.text


async def test_rule_27_an_agent_accepts_content_that_it_advertised(link: Link) -> None:
    class Rich(Agent):
        async def initialize(self, request: Any, /) -> Any:
            capabilities = {"session": {"prompt": {"image": {}}, "mcp": {"stdio": {}}}}
            response = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": capabilities}
            return v2_draft.InitializeResponse.model_validate(response)

    async with serving_v2(link, Rich) as peer:
        for name in ("content", "a server"):
            assert "result" in await peer.call(*REJECTED[name])
        assert "error" in await peer.call(*REJECTED["unknown content"])


def test_rule_27_content_of_a_kind_that_no_capability_names_may_be_sent() -> None:
    state = ProtocolState(V2_CLIENT_SIDE, Options())
    info = v2_draft.Implementation(name="a", version="1")
    capabilities = v2_draft.AgentCapabilities(session=v2_draft.SessionCapabilities())
    state.record_peer(v2_draft.InitializeResponse(protocol_version=2, info=info, capabilities=capabilities))
    unknown = v2_draft.ContentBlockOther(type="_hologram")
    state.check_outgoing(SESSION_PROMPT, v2_draft.PromptRequest(session_id="s", prompt=[unknown]))
    image = v2_draft.ContentBlockImage(data="", mime_type="image/png")
    with pytest.raises(CapabilityError):
        state.check_outgoing(SESSION_PROMPT, v2_draft.PromptRequest(session_id="s", prompt=[unknown, image]))


# Paths

NESTED = {
    "a location": (_update(v1.SessionUpdateToolCall(tool_call_id="t", title="x", locations=PATHS)), "locations.path"),
    "a diff": (
        _update(
            v1.SessionUpdateToolCallUpdate(
                tool_call_id="t", content=[v1.ToolCallContentDiff(path="relative", new_text="")]
            )
        ),
        "content.diff.path",
    ),
    "the tool call of a permission": (
        lambda client: client.session_request_permission(
            session_id="s1", tool_call=v1.ToolCallUpdate(tool_call_id="t", locations=PATHS), options=[]
        ),
        "toolCall.locations.path",
    ),
    "an update of a tool call, as the tool call of a permission": (
        lambda client: client.session_request_permission(
            session_id="s1", tool_call=v1.SessionUpdateToolCallUpdate(tool_call_id="t", locations=PATHS), options=[]
        ),
        "toolCall.locations.path",
    ),
}


@pytest.mark.parametrize(("send", "place"), NESTED.values(), ids=NESTED)
async def test_rule_28_a_relative_path_at_any_depth_raises_and_sends_nothing(send: Sent, place: str) -> None:
    error = await _error_of(v1, send, {})
    assert isinstance(error, RelativePath)
    assert f"{place}', found 'relative'" in str(error)


def _changed(change: Any) -> Sent:
    diff = v2_draft.ToolCallContentDiff(changes=[change])
    return _update(v2_draft.SessionUpdateToolCallUpdate(tool_call_id="t", content=[diff]))


NESTED_V2 = {
    "a location": _update(
        v2_draft.SessionUpdateToolCallUpdate(tool_call_id="t", locations=[v2_draft.ToolCallLocation(path="relative")])
    ),
    "a terminal": _update(v2_draft.SessionUpdateTerminalUpdate(terminal_id="t", cwd="relative")),
    "a changed file": _changed(v2_draft.DiffChangeAdd(path="relative")),
    "the old name of a file": _changed(v2_draft.DiffChangeMove(old_path="relative", path="/x")),
    "the command of a permission": lambda client: client.session_request_permission(
        session_id="s1",
        title="t",
        subject=v2_draft.RequestPermissionSubjectCommand(command="x", cwd="relative"),
        options=[v2_draft.PermissionOption(option_id="o", name="n", kind="allow_once")],
    ),
}


@pytest.mark.parametrize("send", NESTED_V2.values(), ids=NESTED_V2)
async def test_rule_28_relative_paths_in_version_2_are_not_sent_either(link: Link, send: Sent) -> None:
    errors: list[RelativePath] = []

    class Sending(AgentV2):  # type: ignore[misc]
        async def session_prompt(self, request: Any, /) -> Any:
            with pytest.raises(RelativePath, match="'relative'") as caught:
                await send(self.client)
            errors.append(caught.value)
            return v2_draft.PromptResponse(message_id="m")

    async with serving_v2(link, Sending) as peer:
        prompt = [{"type": "text", "text": "x"}]
        assert "result" in await peer.call("session/prompt", {"sessionId": "s1", "prompt": prompt})
    assert len(errors) == 1


@pytest.mark.parametrize("profile", ["v1", "v2_draft"])
async def test_rule_28_the_command_of_a_server_is_an_absolute_path(profile: str) -> None:
    acp = import_module(f"acp_bindings.{profile}")

    class Starting(agent_of(acp)):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            response = {"protocolVersion": acp.PROTOCOL_VERSION, "info": {"name": "a", "version": "1"}}
            response["capabilities"] = {"session": {"mcp": {"stdio": {}}}}
            return acp.InitializeResponse.model_validate(response)

    async with acp.connect_in_process(Starting, client_of(acp, [])) as agent:
        await agent.initialize(**opening(acp))
        await agent.session_new(cwd="/", mcp_servers=[acp.McpServerStdio(name="x", command="/x", args=[], env=[])])
        with pytest.raises(RelativePath, match=r"command', found 'npx'"):
            await agent.session_new(cwd="/", mcp_servers=[acp.McpServerStdio(name="x", command="npx", args=[], env=[])])


async def test_rule_28_a_relative_path_inside_of_received_params_is_logged_and_handled(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    server = {"name": "x", "command": "npx", "args": [], "env": []}
    async with serving(link) as peer:
        assert "result" in await peer.call("session/new", {"cwd": "/", "mcpServers": [server]})
    assert "mcpServers.command in session/new: Input should be an absolute path" in caplog.text


async def test_rule_28_many_relative_paths_in_a_message_are_one_warning(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    locations = [{"path": "relative"}] * 1000
    update = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "locations": locations}
    async with calling(link) as (_, peer):
        await peer.send({"method": "session/update", "params": {"sessionId": "s", "update": update}})
        assert await peer.until_quiet() == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "The peer broke the protocol with update.tool_call.locations.path in session/update: "
        "Input should be an absolute path"
    ]


async def test_rule_27_a_call_that_the_peer_did_not_advertise_raises_each_time(link: Link) -> None:
    class Running(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            for cwd in ("/", None, "/", None):
                with pytest.raises(CapabilityError, match=r"clientCapabilities\.terminal"):
                    await self.client.terminal_create(session_id="s1", command="make", cwd=cwd)

    async with serving(link, Running) as peer:
        assert (await peer.call("_run"))["result"] is None


async def test_connections_with_the_same_capabilities_share_their_places() -> None:
    def number_of_places() -> int:
        return sum(type(value) is MessagePlaces for value in gc.get_objects())

    async def prompt_once() -> None:
        async with v1.connect_in_process(PlainAgent, PlainClient) as agent:
            await agent.initialize(protocol_version=1)
            await agent.session_new(cwd="/", mcp_servers=[])
            await agent.session_prompt(session_id="s1", prompt=[v1.ContentBlockText(text="x")])

    await prompt_once()
    before = number_of_places()
    for _ in range(3):
        await prompt_once()
    assert before > 0
    assert number_of_places() == before


def test_a_place_forgets_classes_beyond_a_number_and_still_finds_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_MAX_PLANS", 2)
    message = MessagePlaces([Absolute("path")])
    classes = [type(f"Request{number}", (v1.ReadTextFileRequest,), {}) for number in range(5)]
    for cls in classes * 2:
        assert message.find_violations(cls(session_id="s1", path="relative"))
        assert not message.find_violations(cls(session_id="s1", path="/absolute"))
    forgotten = ref(classes[0])
    classes.clear()
    del cls
    gc.collect()
    assert forgotten() is None


def test_a_place_forgets_the_classes_that_the_fields_of_forgotten_classes_declare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "_MAX_PLANS", 2)
    message = MessagePlaces([Needs("prompt.image", "image")])
    forgotten: list[ref[type]] = []
    for number in range(4):
        block = type(f"Image{number}", (v1.ContentBlockImage,), {})
        cls = type(f"Request{number}", (v1.PromptRequest,), {"__annotations__": {"prompt": GenericAlias(list, block)}})
        assert message.find_violations(cls(session_id="s1", prompt=[block(data="", mime_type="image/png")]))
        forgotten.append(ref(block))
    gc.collect()
    assert [block() for block in forgotten[:2]] == [None, None]


def test_facts_of_different_kinds_are_never_equal() -> None:
    facts = [Needs("type.a", "prompt.a"), Needs("type.a", ""), Absolute("type.a", True), Unsupported("type.a")]
    assert len(set[Any](facts)) == len(facts)
