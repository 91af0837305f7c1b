"""Runs the client of this folder, which starts its agent."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.support.programs import run_command

Kind: TypeAlias = Literal["ours", "official"]

CLIENT = Path(__file__).with_name("programs") / "client.py"


def run_client(client: Kind, agent: Kind, case: str) -> Any:
    """Return what a case prints, with these connections on both sides."""
    return json.loads(run_command(sys.executable, str(CLIENT), client, agent, case))
