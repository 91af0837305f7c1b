"""A good client passes each scenario. Each broken one is found by its own scenario, and by no other MUST."""

from __future__ import annotations

import asyncio
import sys

import pytest

from acp_kit.checking.client import Command
from acp_kit.checking.running import Result, run
from acp_kit.checking.scenarios import SCENARIOS
from tests.support.kit.checked_client import DEFECTS
from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="the client needs POSIX")]
CLIENT = ROOT / "tests" / "support" / "kit" / "checked_client.py"


async def check(defect: str, ids: list[str], deadline: float) -> list[Result]:
    arguments = [sys.executable, "-I", "-S", str(CLIENT), defect, "{agent}", "{prompt}"]
    command = Command(arguments, deadline=deadline, quiet=0.5)
    return await asyncio.gather(*(run(SCENARIOS[id], command) for id in ids))


async def test_a_good_client_passes_each_scenario() -> None:
    results = await check("", [*SCENARIOS], 60)
    assert {each.scenario.id: each.reason for each in results if each.status != "passed"} == {}
    assert {each.exit_code for each in results} <= {0, 1, None}


@pytest.mark.parametrize("defect", DEFECTS)
async def test_a_defect_is_found_by_its_own_scenario_and_by_no_other_must(defect: str) -> None:
    id, reason = DEFECTS[defect]
    others = [each for each, scenario in SCENARIOS.items() if scenario.level == "MUST" and each != id]
    found = await check(defect, others, 60)
    assert {each.scenario.id: each.reason for each in found if each.status == "failed"} == {}
    (own,) = await check(defect, [id], 2)
    assert own.status == "failed"
    assert reason in own.reason


def test_each_scenario_has_a_defect_that_it_finds() -> None:
    assert {id for id, _ in DEFECTS.values()} == SCENARIOS.keys()
