"""A good agent passes each scenario. Each broken one is found by its own scenario, and by no other MUST.

Usually, `messages` stands for the others. `make stress` tries them all.
"""

from __future__ import annotations

import asyncio
import sys

import pytest

from acp_kit.__main__ import main
from acp_kit.checking.agent import AgentCommand
from acp_kit.checking.agent_scenarios import AGENT_SCENARIOS
from acp_kit.checking.running import Result, run_agent
from tests.kit.checking import checked_agent
from tests.kit.checking.checked_agent import DEFECTS
from tests.support.scale import STRESS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="the agent needs POSIX")]
AGENT = [sys.executable, "-I", "-S", checked_agent.__file__]


async def check(defect: str, ids: list[str], deadline: float) -> list[Result]:
    command = AgentCommand([*AGENT, defect], deadline=deadline, quiet_time=0.5)
    return await asyncio.gather(*(run_agent(AGENT_SCENARIOS[id], command) for id in ids))


def reasons(results: list[Result], *statuses: str) -> dict[str, str]:
    return {result.scenario.id: result.reason for result in results if result.status in statuses}


async def test_a_good_agent_passes_each_scenario() -> None:
    assert reasons(await check("", [*AGENT_SCENARIOS], 60), "failed", "skipped") == {}


@pytest.mark.test_all
async def test_a_good_agent_of_version_2_passes_each_scenario_of_version_2() -> None:
    command = AgentCommand([sys.executable, "-m", "acp_kit", "bridge", "--", *AGENT, ""], quiet_time=0.5, version=2)
    scenarios = [scenario for scenario in AGENT_SCENARIOS.values() if 2 in scenario.versions]
    results = [await run_agent(scenario, command) for scenario in scenarios]
    assert reasons(results, "failed", "skipped") == {}


@pytest.mark.test_all
@pytest.mark.stress
@pytest.mark.parametrize("defect", DEFECTS)
async def test_a_defect_is_found_by_its_own_scenario_and_by_no_other_must(defect: str) -> None:
    id, reason = DEFECTS[defect]
    musts = [must for must, scenario in AGENT_SCENARIOS.items() if scenario.level == "MUST"] if STRESS else ["messages"]
    assert reasons(await check(defect, [must for must in musts if must != id], 60), "failed") == {}
    for deadline in (2, 60):  # some wait for it, and on a busy machine others take longer
        (own,) = await check(defect, [id], deadline)
        if reason in own.reason:
            break
    assert (own.status, reason in own.reason) == ("failed", True), own.reason


def test_each_scenario_has_a_defect_that_it_finds() -> None:
    assert {id for id, _ in DEFECTS.values()} == AGENT_SCENARIOS.keys()


async def test_an_agent_that_wants_a_login_is_skipped_with_the_ids_of_its_logins() -> None:
    program = """
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    answer = {"error": {"code": -32000, "message": "log in"}}
    if message["method"] == "initialize":
        answer = {"result": {"protocolVersion": 1, "authMethods": [{"id": "key", "name": "Key"}]}}
    if message["method"] == "authenticate":
        answer = {"result": {}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""
    command = AgentCommand([sys.executable, "-c", program])
    result = await run_agent(AGENT_SCENARIOS["messages"], command)
    assert (result.status, result.reason) == ("skipped", "the agent requires a login. Pass --login with one of: key")
    logged_in = await run_agent(AGENT_SCENARIOS["messages"], AgentCommand(command.arguments, login="key"))
    assert (logged_in.status, "log in" in logged_in.reason) == ("failed", True)


def test_the_command_reports_and_exits_like_check_client(capsys: pytest.CaptureFixture[str]) -> None:
    only = ["--only", "initialize-first", "--only", "other-version"]
    assert main(["check-agent", *only, "--", *AGENT, "takes any version"]) == 1
    printed = capsys.readouterr().out
    assert "ok    SHOULD  initialize-first\n" in printed
    assert "https://agentclientprotocol.com/protocol/v1/initialization#version-negotiation" in printed
    assert printed.endswith("1 passed, 1 MUST failed, 0 SHOULD failed, 0 skipped\n")
    assert main(["check-agent", "--", "no-such-agent"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["check-agent"])


def test_an_agent_that_sends_nothing_is_checked_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-agent", "--", "sh", "-c", "echo no key >&2; exit 3"]) == 1
    printed = capsys.readouterr()
    assert "no key" in printed.out
    assert printed.out.count("FAIL") == 1
    assert "the agent has sent nothing, so the other scenarios are skipped" in printed.err
