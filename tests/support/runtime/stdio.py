"""An agent on stdin and stdout, with raw bytes as its client."""

from __future__ import annotations

from typing import Any

from tests.support.programs import Program
from tests.support.runtime.peer import INITIALIZE, line

OPENING = line({"id": 0, "method": "initialize", "params": INITIALIZE})


def start(*arguments: str, **streams: Any) -> Program:
    """Start the agent of `obedient_agent.py`, with pipes unless `streams` says otherwise.

    The pipes are unbuffered: `communicate` would not return what a buffer has read beyond a line.
    """
    return Program("-m", "tests.support.runtime.obedient_agent", *arguments, bufsize=0, **streams)
