"""Rule 27 for values inside of messages: what is sent only to a peer that advertised it."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bindings import v1, v1_unstable, v2_draft
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_bindings.v2_draft.connecting import CLIENT_SIDE as V2_CLIENT_SIDE
from acp_bindings.v2_draft.methods import SESSION_PROMPT
from acp_runtime import CapabilityError, Model, Options, RelativePath
from acp_runtime.connection.state import ProtocolState
from acp_runtime.stubs.facts import Absolute, Needs
from acp_runtime.stubs.methods import Request
from tests.runtime.connection.sending import messages_of, sending_update
from tests.support.runtime.any_profile import agent_of, client_of
from tests.support.runtime.peer import Link, Peer, PlainAgent, serving

BOOLEAN = v1.SessionConfigOptionBoolean(id="b", name="b", current_value=True)
PLAN = v1_unstable.PlanUpdateContentItems(plan_id="p", entries=[])
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
    link: Link, profile: Any, update: Any, capability: str, advertised: Any
) -> None:
    with pytest.raises(CapabilityError) as caught:
        await messages_of(link, sending_update(update), profile=profile)
    assert caught.value.capability == capability
    assert caught.value.method.startswith("session/update with update.")
    (message,) = await messages_of(link, sending_update(update), advertised, profile=profile)
    assert message["method"] == "session/update"


async def test_rule_27_an_unknown_mode_of_elicitation_is_never_sent(link: Link) -> None:
    def ask(client: Any) -> Any:
        return client.elicitation_create(mode="_voice", session_id="s1", message="m")

    with pytest.raises(CapabilityError) as caught:
        await messages_of(link, ask, {"elicitation": {"form": {}, "url": {}}})
    assert caught.value.method == "elicitation/create with mode.*"


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
