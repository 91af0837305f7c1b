"""Modes and config options are declared once, and clients that know either see the same state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from acp_bindings import v1, v1_unstable
from acp_kit.agent import Session, Settings, select, toggle
from acp_runtime import RemoteError
from tests.support.kit.turns import AgentWithSettings, KeepingClient
from tests.support.recording_factory import RecordingFactory

BOOLEANS = v1.ClientCapabilities(
    session=v1.ClientSessionCapabilities(
        config_options=v1.SessionConfigOptionsCapabilities(boolean=v1.BooleanConfigOptionCapabilities())
    )
)


@dataclass
class Talk:
    agent: v1.RemoteAgent
    settings: Settings
    created: v1.NewSessionResponse
    recorded: list[tuple[str, Any]]

    @property
    def updates(self) -> list[Any]:
        client: KeepingClient = self.agent.handler
        return client.updates

    def state(self) -> dict[str, Any]:
        return {name: self.settings[name] for name in self.settings}

    async def set_mode(self, mode_id: str) -> None:
        await self.agent.session_set_mode(session_id=self.created.session_id, mode_id=mode_id)

    async def set_option(self, config_id: str, value: Any) -> list[Any]:
        kind: Any = {"type": "boolean"} if isinstance(value, bool) else {}
        answer = await self.agent.session_set_config_option(
            session_id=self.created.session_id, config_id=config_id, value=value, **kind
        )
        return [option.current_value for option in answer.config_options]


@asynccontextmanager
async def connected(capabilities: v1.ClientCapabilities = BOOLEANS) -> AsyncIterator[Talk]:
    recorded: list[tuple[str, Any]] = []
    factory = RecordingFactory(lambda client: AgentWithSettings(client, [], recorded))
    async with v1.connect_in_process(factory, KeepingClient) as agent:
        await agent.initialize(protocol_version=1, client_capabilities=capabilities)
        created = await agent.session_new(cwd="/work", mcp_servers=[])
        yield Talk(agent, factory.handler.settings, created, recorded)


async def test_a_new_session_shows_modes_and_options() -> None:
    async with connected() as talk:
        modes = talk.created.modes
        assert modes is not None
        assert modes.current_mode_id == "ask"
        assert [(mode.id, mode.name) for mode in modes.available_modes] == [
            ("ask", "Ask first"),
            ("code", "Write code"),
        ]
        options = talk.created.config_options
        assert options is not None
        assert [(option.id, option.current_value) for option in options] == [
            ("mode", "ask"),
            ("model", "large"),
            ("web", False),
        ]
        assert not {"category", "description"} & options[-1].model_fields_set


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda talk: talk.set_mode("code"), ["config_option_update"]),
        (lambda talk: talk.set_option("mode", "code"), ["current_mode_update"]),
        (lambda talk: talk.settings.set("mode", "code"), ["config_option_update", "current_mode_update"]),
    ],
    ids=["by mode", "by option", "by the agent"],
)
async def test_a_changed_mode_is_sent_because_the_client_does_not_know_it_and_recorded(
    change: Callable[[Talk], Awaitable[Any]], kinds: list[str]
) -> None:
    async with connected() as talk:
        await change(talk)
        await talk.set_option("model", "large")  # its answer comes after the updates
        assert (talk.state(), talk.settings.mode) == ({"mode": "code", "model": "large", "web": False}, "code")
        assert [update.session_update for update in talk.updates] == kinds
        last = {update.session_update: update for _, update in talk.recorded}
        assert last.keys() == {"current_mode_update", "config_option_update"}
        assert last["current_mode_update"].current_mode_id == "code"
        options = last["config_option_update"].config_options
        assert {option.id: option.current_value for option in options} == talk.state()


async def test_the_response_to_a_new_mode_is_of_the_request_s_profile() -> None:
    async with connected() as talk:
        for profile in (v1, v1_unstable):
            request: Any = profile.SetSessionModeRequest(session_id=talk.created.session_id, mode_id="code")
            assert type(await talk.settings.set_mode(request)) is profile.SetSessionModeResponse


async def test_toggles_are_not_sent_to_a_client_without_booleans() -> None:
    async with connected(v1.ClientCapabilities()) as talk:
        assert [option.id for option in talk.created.config_options or []] == ["mode", "model"]
        assert talk.settings["web"] is False


async def test_other_options_are_sent_only_if_the_agent_changes_them() -> None:
    async with connected() as talk:
        assert await talk.set_option("model", "small") == ["ask", "small", False]
        assert await talk.set_option("web", value=True) == ["ask", "small", True]
        assert talk.updates == []
        await talk.settings.set("web", False)
        await talk.set_option("model", "large")
        assert [update.session_update for update in talk.updates] == ["config_option_update"]


@pytest.mark.parametrize(
    ("config_id", "value", "said"),
    [
        ("model", "huge", "The option 'model' doesn't offer 'huge', but small, large."),
        ("colour", "red", "There is no option 'colour'. There are: mode, model, web"),
        ("web", "yes", "The option 'web' is on or off: pass True or False, not 'yes'."),
        ("model", True, "The option 'model' doesn't offer True, but small, large."),
    ],
)
async def test_values_that_an_option_does_not_have_are_refused(config_id: str, value: Any, said: str) -> None:
    async with connected() as talk:
        with pytest.raises(RemoteError) as raised:
            await talk.set_option(config_id, value)
        assert (raised.value.code, raised.value.message) == (-32602, said)
        with pytest.raises(ValueError, match=r"The option|no option"):
            await talk.settings.set(config_id, value)
        assert talk.state() == {"mode": "ask", "model": "large", "web": False}


async def test_an_unknown_mode_is_refused() -> None:
    async with connected() as talk:
        with pytest.raises(RemoteError) as raised:
            await talk.set_mode("fly")
        assert (raised.value.code, raised.value.data) == (-32602, {"modeId": "fly"})


def session() -> Session:
    client: Any = None
    return Session(client, "s", cwd="/work")


def test_values_in_groups_are_values() -> None:
    groups = [
        v1.SessionConfigSelectGroup(group="g", name="G", options=[v1.SessionConfigSelectOption(value="a", name="A")])
    ]
    option = v1.SessionConfigOptionSelect(id="x", name="X", options=groups, current_value="a", category="mode")
    modes = Settings(session(), [option]).modes
    assert modes is not None
    assert [mode.id for mode in modes.available_modes] == ["a"]


def test_a_beginning_that_is_no_value_and_a_second_id_are_refused() -> None:
    with pytest.raises(ValueError, match="The option 'x' doesn't offer 'c'"):
        Settings(session(), [select("x", "X", {"a": "A"}, current="c")])
    with pytest.raises(ValueError, match="Two options have the id 'x'"):
        Settings(session(), [toggle("x", "X"), toggle("x", "X")])


def test_an_option_without_values_is_refused() -> None:
    with pytest.raises(ValueError, match="The option 'x' needs at least one value"):
        select("x", "X", {})


def test_without_an_option_for_it_there_are_no_modes() -> None:
    settings = Settings(session(), [toggle("x", "X")])
    assert (settings.modes, settings.mode) == (None, None)


def test_values_of_an_earlier_time_are_taken_if_they_are_still_offered() -> None:
    options = [select("model", "Model", {"small": "Small", "large": "Large"}), toggle("web", "Web")]
    settings = Settings(session(), options, current={"model": "huge", "web": True, "gone": "x"})
    assert (settings["model"], settings["web"]) == ("small", True)
    assert Settings(session(), options, current={"model": "large"})["model"] == "large"
