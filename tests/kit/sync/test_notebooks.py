"""The cells of a notebook, which run in the event loop of its kernel, use an agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.marked_processes import marked, wait_until_left
from tests.support.programs import run_command
from tests.support.skipping import skip_without
from tools.paths import ROOT
from tools.third_party import UnavailableError, notebook, python_in

pytestmark = [pytest.mark.test_all, pytest.mark.slow]

START = """
import asyncio, sys
from acp_kit.sync import spawn_agent

assert asyncio.get_running_loop().is_running()

def ask_user(request):
    answer = input(f"{request.tool_call.title}? ")
    return next(option.option_id for option in request.options if option.kind == answer)

agent = spawn_agent(sys.executable, "-S", "-m", "tests.support.kit.acting_agent", ask=ask_user)
session = agent.open_session()
"""
LOOP = """
with session.prompt("wait") as turn:
    for update in turn:
        print(update.content.text)
"""


def test_the_cells_of_a_notebook_use_an_agent(tmp_path: Path) -> None:
    try:
        python = python_in(notebook())
    except UnavailableError as reason:
        skip_without("ipykernel can't be installed", reason)
    cells = [
        (START, None, None),
        ("session.ask('hello')", None, None),
        ("session.ask('ask')", "allow_once", None),
        (LOOP, None, "waiting"),
        ("turn.stop_reason, session.ask('again')", None, None),
    ]
    with marked() as marker:
        folders = dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"), str(tmp_path))
        printed = run_command(
            str(python),
            "tests/kit/sync/run_notebook.py",
            cwd=ROOT,
            input=json.dumps(cells),
            PYTHONPATH=str(ROOT),
            **folders,
            **{marker: "1"},
        )
        assert json.loads(printed) == [
            [],
            ["'hello'"],
            ["Delete everything? ", "'May I? yes'"],
            ["waiting", "KeyboardInterrupt"],
            ["('cancelled', 'again')"],
        ]
        # The notebook closed nothing.
        assert not wait_until_left(marker)
