"""Runs the client of this folder, which starts its agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["ours", "official"]

CLIENT = Path(__file__).with_name("programs") / "client.py"


def run_client(client: Kind, agent: Kind, case: str) -> Any:
    """Return what a case prints, with these connections on both sides."""
    done = subprocess.run(
        [sys.executable, CLIENT, client, agent, case], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
