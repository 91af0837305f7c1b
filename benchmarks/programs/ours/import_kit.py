"""Prints how long importing the agent's part of acp_kit takes, after what every agent imports."""

from __future__ import annotations

import json
import time

from acp_bindings.v1 import Agent, PromptResponse, SessionUpdateAgentMessageChunk, serve_stdio

STARTED = time.process_time()
from acp_kit.agent import Rejected, Session, Sessions, Turn  # noqa: E402

SECONDS = time.process_time() - STARTED
USED = (Agent, PromptResponse, SessionUpdateAgentMessageChunk, serve_stdio, Rejected, Session, Sessions, Turn)

if __name__ == "__main__":
    print(json.dumps({"seconds": SECONDS}))
