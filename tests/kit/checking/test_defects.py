"""A good client passes each scenario. Each broken one is found by its own scenario, and by no other MUST.

Usually, `messages` stands for the others: all steps of a conversation. `make stress` tries them all.
"""

from __future__ import annotations

import asyncio
import sys

import pytest

from acp_kit.checking.client import ClientCommand
from acp_kit.checking.client_scenarios import CLIENT_SCENARIOS as SCENARIOS
from acp_kit.checking.running import Result, run_client
from tests.kit.checking import checked_client
from tests.kit.checking.checked_client import DEFECTS
from tests.support.scale import STRESS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="the client needs POSIX")]
CLIENT = checked_client.__file__


async def check(defect: str, ids: list[str], deadline: float) -> list[Result]:
    arguments = [sys.executable, "-I", "-S", CLIENT, defect, "{agent}", "{prompt}"]
    command = ClientCommand(arguments, load_arguments=[*arguments, "load"], deadline=deadline, quiet_time=0.5)
    return await asyncio.gather(*(run_client(SCENARIOS[id], command) for id in ids))


async def test_a_good_client_passes_each_scenario() -> None:
    results = await check("", [*SCENARIOS], 60)
    assert {result.scenario.id: result.reason for result in results if result.status != "passed"} == {}


async def test_a_good_client_of_version_2_passes_each_scenario_of_version_2() -> None:
    arguments = [sys.executable, "-I", "-S", CLIENT, "", "{agent}", "{prompt}", "version 2"]
    command = ClientCommand(arguments, deadline=60, quiet_time=0.5, version=2)
    scenarios = [scenario for scenario in SCENARIOS.values() if 2 in scenario.versions]
    results = await asyncio.gather(*(run_client(scenario, command) for scenario in scenarios))
    assert {result.scenario.id: result.reason for result in results if result.status != "passed"} == {}


@pytest.mark.test_all
@pytest.mark.stress
@pytest.mark.parametrize("defect", DEFECTS)
async def test_a_defect_is_found_by_its_own_scenario_and_by_no_other_must(defect: str) -> None:
    id, reason = DEFECTS[defect]
    musts = [must for must, scenario in SCENARIOS.items() if scenario.level == "MUST"] if STRESS else ["messages"]
    results = await check(defect, [must for must in musts if must != id], 60)
    assert {result.scenario.id: result.reason for result in results if result.status == "failed"} == {}
    for deadline in (2, 60):  # some wait for it, and on a busy machine others take longer
        (own,) = await check(defect, [id], deadline)
        if reason in own.reason:
            break
    assert (own.status, reason in own.reason) == ("failed", True), own.reason


async def test_a_client_that_stays_open_is_ended_after_each_scenario() -> None:
    arguments = [sys.executable, "-I", "-S", CLIENT, "", "{agent}", "{prompt}", "stays"]
    command = ClientCommand(arguments, deadline=60, quiet_time=0.5, by_hand=True)
    by_id = {id: await run_client(SCENARIOS[id], command) for id in ("messages", "late-update", "agent-dies")}
    assert [result.status for result in by_id.values()] == ["passed", "passed", "skipped"]
    assert {result.exit_code for result in by_id.values()} == {None}


def test_each_scenario_has_a_defect_that_it_finds() -> None:
    assert {id for id, _ in DEFECTS.values()} == SCENARIOS.keys()
