"""`session.choose` sets an option or the mode, whichever the agent has. Its error lists the offered values."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import ClientSession, open_session
from tests.support.kit.turns import ActingAgent, Viewer

FLAT = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
GROUPED = [
    {"group": "a", "name": "A", "options": [{"value": "opus", "name": "Opus"}]},
    {"group": "b", "name": "B", "options": [{"value": "mini", "name": "Mini"}, {"value": "ho\x1bme", "name": "H"}]},
]
MODE = {"type": "select", "id": "m1", "name": "Mode", "category": "mode", "currentValue": "ask", "options": FLAT}
MODEL = {"type": "select", "id": "m2", "name": "Model", "category": "model", "currentValue": "mini", "options": GROUPED}
TOGGLE = {"type": "boolean", "id": "web", "name": "Web", "currentValue": False}
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}


class SettingsAgent(ActingAgent):
    """Has these options and modes, and sets the requested ones, or none."""

    def __init__(self, client: v1.RemoteClient, session: dict[str, Any], *, obeys: bool) -> None:
        super().__init__(client, [], [])
        self.session = v1.NewSessionResponse.model_validate({"sessionId": "s", **session})
        self.obeys = obeys

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return self.session

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        return v1.SetSessionModeResponse()

    async def session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        options = [
            option.model_copy(update={"current_value": request.value})
            if self.obeys and option.id == request.config_id
            else option
            for option in self.session.config_options or []
        ]
        return v1.SetSessionConfigOptionResponse(config_options=options)


@asynccontextmanager
async def session_with(*, obeys: bool = True, **session: Any) -> AsyncGenerator[ClientSession]:
    async with v1.connect_in_process(lambda client: SettingsAgent(client, session, obeys=obeys), Viewer) as agent:
        boolean = v1.SessionConfigOptionsCapabilities(boolean=v1.BooleanConfigOptionCapabilities())
        capabilities = v1.ClientCapabilities(session=v1.ClientSessionCapabilities(config_options=boolean))
        await agent.initialize(protocol_version=1, client_capabilities=capabilities)
        async with open_session(agent, cwd="/work") as opened:
            yield opened


async def test_an_option_is_found_by_its_id_or_its_category() -> None:
    async with session_with(configOptions=[MODE, MODEL, TOGGLE], modes=MODES) as session:
        await session.choose("model", "opus")
        assert [option.current_value for option in session.state.config_options] == ["ask", "opus", False]
        await session.choose("web", True)
        await session.choose("m1", "code")
        assert session.state.config_options[0].current_value == "code"
        assert session.state.current_mode_id == "ask"


async def test_without_an_option_for_it_the_mode_is_set() -> None:
    async with session_with(configOptions=[MODEL], modes=MODES) as session:
        await session.choose("mode", "code")
        assert session.state.current_mode_id == "code"


@pytest.mark.parametrize(
    ("session", "choice", "message"),
    [
        ({"configOptions": [MODEL]}, ("model", "gpt"), r"'m2' doesn't offer 'gpt', but opus, mini, ho\\x1bme\.$"),
        ({"configOptions": [MODEL]}, ("model", True), r"'m2' doesn't offer True, but opus"),
        ({"configOptions": [TOGGLE]}, ("web", "on"), r"'web' is on or off: pass True or False, not 'on'\.$"),
        ({"configOptions": [MODEL], "modes": MODES}, ("effort", "x"), r"no option 'effort', but m2\.$"),
        ({"modes": MODES}, ("mode", "yolo"), r"the mode 'yolo', but ask, code\.$"),
        ({"modes": MODES}, ("model", "opus"), r"no option 'model', but mode\.$"),
        ({}, ("model", "opus"), r"no option 'model', but nothing\.$"),
        (
            {"configOptions": [MODEL, {**MODEL, "id": "small"}]},
            ("model", "opus"),
            r"several options for 'model'\. Pass an id: m2, small\.$",
        ),
    ],
)
async def test_an_unoffered_choice_is_an_error_with_the_offered_ones(
    session: dict[str, Any], choice: tuple[str, Any], message: str
) -> None:
    async with session_with(**session) as opened:
        with pytest.raises(ValueError, match=message):
            await opened.choose(*choice)


async def test_an_agent_that_ignores_the_choice_is_an_error() -> None:
    async with session_with(obeys=False, configOptions=[MODEL]) as session:
        with pytest.raises(RuntimeError, match="was asked to set 'm2' to 'opus', but now it is 'mini'"):
            await session.choose("model", "opus")
