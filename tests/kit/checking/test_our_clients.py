"""The clients of the examples and guides keep to the protocol.

How the bindings read and write messages is the same for each. The guide to checking clients has a smaller one that is
tried with all scenarios.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from acp_kit.checking.client import ClientCommand
from acp_kit.checking.client_scenarios import CLIENT_SCENARIOS as SCENARIOS
from acp_kit.checking.running import run_client
from tests.support.docs.files import steps
from tests.support.scale import STRESS
from tools.paths import ROOT

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C needs POSIX"),
]
TERMINAL_CLIENT = [sys.executable, str(ROOT / "examples" / "terminal_client.py"), "--say", "{prompt}"]
QUICKSTART = ROOT / "docs" / "learn" / "quickstart-client.md"
# The scenarios that are skipped for a client that asks nobody, and for one that asks a user.
ASKS_NOBODY, ASKS = {"cancel", "load"}, {"permission-kind"}
# Scenarios about how the bindings read and write messages.
BINDINGS = {
    "split-characters",
    "noise",
    "long-line",
    "unknown-request",
    "method-not-found",
    "string-ids",
    "parallel-requests",
}
# Scenarios about the code of the client itself.
OWN = ["initialize-silence", "prompt-error", "agent-dies", "unknown-update", "permission-option"]
SYNCHRONOUS = """
import sys
from acp_bindings import v1
from acp_kit.sync import spawn_agent

def ask(request: v1.RequestPermissionRequest) -> str | None:
    return next((option.option_id for option in request.options if option.kind == "allow_once"), None)

with spawn_agent(sys.argv[1], ask=ask) as agent, agent.open_session() as session:
    try:
        session.ask(sys.argv[2])
    except v1.RequestError as error:
        sys.exit(f"The agent fails: {error}")
"""


async def faults(command: ClientCommand, ids: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    """Return why scenarios fail, and which can't be tried."""
    # A client that asks nobody answers a permission request at once, but that may take seconds on a busy machine.
    patient = replace(command, quiet_time=60) if command.answer is None else command
    results = await asyncio.gather(*(run_client(SCENARIOS[id], patient if id == "cancel" else command) for id in ids))
    failed = {result.scenario.id: result.reason for result in results if result.status == "failed"}
    return failed, {result.scenario.id for result in results if result.status == "skipped"}


@pytest.mark.stress
async def test_the_terminal_client_that_allows_everything() -> None:
    command = ClientCommand([*TERMINAL_CLIENT, "--yes", "{agent}"], deadline=60)
    ids = SCENARIOS.keys() - (set() if STRESS else BINDINGS)
    assert await faults(command, ids) == ({}, ASKS_NOBODY)


async def test_the_terminal_client_that_asks() -> None:
    command = ClientCommand([*TERMINAL_CLIENT, "{agent}"], answer="2", deadline=60)
    assert await faults(command, ["cancel", "parallel-requests", "permission-option", "permission-kind"]) == ({}, ASKS)


async def test_the_client_of_the_quickstart_has_no_faults(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(steps(QUICKSTART)[-1].files["client.py"], "utf-8")
    command = ClientCommand(
        [sys.executable, str(tmp_path / "client.py"), "{prompt}", "{agent}"], answer="2", deadline=60
    )
    # It exits at Ctrl-C without a session/cancel, because `input` keeps its event loop waiting.
    assert await faults(command, [*OWN, "parallel-requests"]) == ({}, set())


async def test_a_synchronous_client_has_no_faults(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(SYNCHRONOUS, "utf-8")
    command = ClientCommand([sys.executable, str(tmp_path / "client.py"), "{agent}", "{prompt}"], deadline=60)
    assert await faults(command, [*OWN, "permission-kind"]) == ({}, set())
