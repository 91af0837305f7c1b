"""What `check-client` says about clients of others, so that a change of theirs or of ours is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_kit.checking.client import ClientCommand
from acp_kit.checking.client_scenarios import CLIENT_SCENARIOS as SCENARIOS
from acp_kit.checking.running import Result, run_client
from tests.support.scale import STRESS
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError, acpx

pytestmark = pytest.mark.xdist_group("their clients")


@pytest.mark.stress
async def test_acpx_goes_on_with_any_version_and_keeps_to_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        client = acpx("acpx")
    except UnavailableError as reason:
        skip_without("acpx can't be installed", reason)
    monkeypatch.setenv("HOME", str(tmp_path))
    arguments = [*client, "--approve-all", "--agent", "{agent}", "exec", "{prompt}"]
    results: list[Result] = []
    for id in [*SCENARIOS] if STRESS else ["messages", "other-version", "files", "terminals", "cancel", "load"]:
        results.append(await run_client(SCENARIOS[id], ClientCommand(arguments, deadline=60)))
    assert {result.scenario.id for result in results if result.status == "failed"} == {"other-version"}
    assert {result.scenario.id for result in results if result.status == "skipped"} == {"cancel", "load"}
