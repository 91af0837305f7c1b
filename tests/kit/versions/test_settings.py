"""Modes, config options and commands of an agent of version 1 as a client of version 2 sees them."""

from __future__ import annotations

from typing import Any

import pytest

from acp_bindings import v1
from acp_runtime import InvalidParams
from tests.support.kit.behind_v2 import AgentV1, ask, connected, session_of, turn, without_guards
from tests.support.recording_factory import RecordingFactory

MODES = v1.SessionModeState(
    current_mode_id="ask",
    available_modes=[v1.SessionMode(id="ask", name="Ask"), v1.SessionMode(id="code", name="Code", description="Edits")],
)
MODEL = v1.SessionConfigOptionSelect(
    id="model",
    name="Model",
    current_value="small",
    options=[
        v1.SessionConfigSelectGroup(
            group="all",
            name="All",
            options=[
                v1.SessionConfigSelectOption(value="small", name="Small"),
                v1.SessionConfigSelectOption(value="large", name="Large"),
            ],
        )
    ],
)
FAST = v1.SessionConfigOptionBoolean(id="fast", name="Fast", current_value=False)


def mode_option(current: str) -> dict[str, Any]:
    return {
        "configId": "mode",
        "type": "select",
        "name": "Mode",
        "category": "mode",
        "currentValue": current,
        "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code", "description": "Edits"}],
    }


class Modal(AgentV1):
    """An agent with two modes, and options that remember their values."""

    response = v1.NewSessionResponse(session_id="session-1", modes=MODES, config_options=[MODEL, FAST])

    def __init__(self, client: v1.RemoteClient) -> None:
        super().__init__(client)
        self.values: list[Any] = []

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return self.response

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        if request.mode_id not in ("ask", "code"):
            raise InvalidParams("There is no such mode")
        return v1.SetSessionModeResponse()

    async def session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        self.values.append(request.value)
        return v1.SetSessionConfigOptionResponse(config_options=[FAST])

    async def work(self, session: str) -> None:
        await self.send(session, v1.SessionUpdateCurrentModeUpdate(current_mode_id="code"))
        await self.send(session, v1.SessionUpdateConfigOptionUpdate(config_options=[FAST]))


async def test_modes_are_the_option_mode_before_the_other_options() -> None:
    async with connected(Modal) as (peer, _):
        options = (await peer.call("session/new", {"cwd": "/work"}))["result"]["configOptions"]
        assert options[0] == mode_option("ask")
        assert [option["configId"] for option in options] == ["mode", "model", "fast"]
        assert options[1]["options"][0]["groupId"] == "all"


async def test_setting_the_option_mode_sets_the_mode() -> None:
    async with connected(Modal) as (peer, _):
        await peer.call("session/new", {"cwd": "/work"})
        setting = {"configId": "mode", "type": "id", "value": "code"}
        _, response = await ask(peer, 1, "session/set_config_option", **setting)
        assert response["result"]["configOptions"][0] == mode_option("code")
        _, response = await ask(peer, 2, "session/set_config_option", **{**setting, "value": "fly"})
        assert response["error"]["code"] == -32602
        updates, _ = await ask(peer, 3, "session/resume", cwd="/work")
        assert updates[-1]["state"] == "idle"


async def test_setting_other_options_reaches_the_agent() -> None:
    factory = RecordingFactory(Modal)
    async with connected(factory) as (peer, _):
        await peer.call("session/new", {"cwd": "/work"})
        for setting in ({"configId": "model", "type": "id", "value": "large"}, {"type": "boolean", "value": True}):
            _, response = await ask(peer, 1, "session/set_config_option", **{"configId": "fast", **setting})
            assert [option["configId"] for option in response["result"]["configOptions"]] == ["mode", "fast"]
        for setting in (
            {"configId": "fast", "type": "_number", "value": 1},
            {"configId": "other", "type": "id", "value": "large"},
        ):
            _, response = await ask(peer, 2, "session/set_config_option", **setting)
            assert response["error"]["code"] == -32602
    assert factory.handler.values == ["large", True]


async def test_a_value_that_an_option_does_not_have_is_refused() -> None:
    async with connected(Modal) as (peer, _):
        await peer.call("session/new", {"cwd": "/work"})
        for option in ("model", "mode"):
            setting = {"configId": option, "type": "id", "value": "other"}
            _, response = await ask(peer, 1, "session/set_config_option", **setting)
            assert response["error"]["code"] == -32602


async def test_changed_modes_and_options_are_updates_of_all_options() -> None:
    async with connected(Modal) as (peer, _):
        await peer.call("session/new", {"cwd": "/work"})
        mode, options = [update for update in await turn(peer) if "configOptions" in update]
        assert mode["sessionUpdate"] == options["sessionUpdate"] == "config_option_update"
        assert [option["configId"] for option in mode["configOptions"]] == ["mode", "model", "fast"]
        assert mode["configOptions"][0] == mode_option("code")
        assert [option["configId"] for option in options["configOptions"]] == ["mode", "fast"]


async def test_an_agent_that_has_its_modes_as_an_option_too_has_them_once() -> None:
    both = MODEL.model_copy(update={"category": "mode", "id": "modes"})

    class Both(Modal):
        response = v1.NewSessionResponse(session_id="session-1", modes=MODES, config_options=[both])

    async with connected(Both) as (peer, _):
        options = (await peer.call("session/new", {"cwd": "/work"}))["result"]["configOptions"]
        assert [option["configId"] for option in options] == ["modes"]
        kinds = [update["sessionUpdate"] for update in await turn(peer) if "configOptions" in update]
        assert kinds == ["config_option_update"]


async def test_commands_have_types_and_names_of_version_2(caplog: pytest.LogCaptureFixture) -> None:
    class Commanding(AgentV1):
        async def work(self, session: str) -> None:
            commands = [
                v1.AvailableCommand(name="plan", description="Plans"),
                v1.AvailableCommand(name="find", description="Finds", input=v1.UnstructuredCommandInput(hint="what")),
                v1.AvailableCommand(name="find it", description="Finds"),
                v1.AvailableCommand(name="find", description="Finds again"),
            ]
            await self.send(session, v1.SessionUpdateAvailableCommandsUpdate(available_commands=commands))

    async with session_of(open=without_guards(Commanding)) as peer:
        (update,) = [update for update in await turn(peer) if "availableCommands" in update]
        assert update["availableCommands"] == [
            {"type": "command", "name": "plan", "description": "Plans"},
            {"type": "command", "name": "find", "description": "Finds", "input": {"type": "text", "hint": "what"}},
        ]
    assert "Left out 2 commands" in caplog.text
