"""Rule 23: the environment that a spawned agent inherits."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from acp_bindings.v1 import spawn_agent
from acp_runtime import Options
from tests.runtime.transports.processes import command_of
from tests.support.runtime.peer import PlainClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX"),
]


def echo(**keywords: Any) -> Any:
    return spawn_agent(PlainClient, *command_of("echo"), **keywords)


async def test_rule_23_the_environment_is_inherited_and_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "from outside")
    monkeypatch.setenv("OVERRIDDEN", "from outside")
    async with echo(env={"GIVEN": "1", "OVERRIDDEN": "2"}) as agent:
        environment = await agent.ext_request("_env")
    assert (environment["SOME_API_KEY"], environment["OVERRIDDEN"], environment["GIVEN"]) == ("from outside", "2", "1")
    assert {**os.environ, **environment} == environment


@pytest.mark.parametrize("by_option", [True, False])
@pytest.mark.parametrize(
    ("inherit", "names"),
    [(False, {"PATH", "LC_SOMETHING"}), (["SOME_API_KEY", "UNSET"], {"SOME_API_KEY"}), ([], set())],
)
async def test_rule_23_a_selection_of_the_environment_can_be_inherited(
    inherit: Any, names: set[str], by_option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    monkeypatch.setenv("LC_SOMETHING", "C")
    keywords = {"options": Options(inherit_env=inherit)} if by_option else {"inherit_env": inherit}
    async with echo(env={"GIVEN": "1"}, **keywords) as agent:
        environment = await agent.ext_request("_env")
    assert environment["GIVEN"] == "1"
    assert {"PATH", "LC_SOMETHING", "SOME_API_KEY"} & set(environment) == names


async def test_rule_23_the_keyword_inherit_env_overrides_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    async with echo(inherit_env=True, options=Options(inherit_env=False)) as agent:
        assert "SOME_API_KEY" in await agent.ext_request("_env")
