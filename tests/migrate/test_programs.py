"""A program of this repository that uses the official SDK runs after it has been rewritten."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from acp_bindings import v1
from acp_kit.client import open_session
from acp_migrate import __main__ as command
from tests.support.kit.turns import Viewer
from tests.support.paths import ROOT

# The group shares the import of libcst.
pytestmark = pytest.mark.xdist_group("libcst")

AGENT = ROOT / "benchmarks" / "programs" / "python_sdk" / "agent.py"


@pytest.mark.slow
def test_a_rewritten_agent_runs(tmp_path: Path) -> None:
    shutil.copy(AGENT, tmp_path)
    assert command.main([str(tmp_path), "--write"]) == 1, "the function that serves over a network is left to the user"
    assert (tmp_path / "agent.py").read_text().count("# acp-migrate: ") == 1
    assert "`acp_kit.remote.agent_app` makes the ASGI application" in (tmp_path / "agent.py").read_text()

    async def talk() -> str:
        async with v1.spawn_agent(Viewer, sys.executable, str(tmp_path / "agent.py")) as agent:
            await agent.initialize(protocol_version=1)
            async with open_session(agent, cwd=os.getcwd()) as session:
                return await session.ask("2 10")

    assert asyncio.run(talk()) == "a line of a line of "
