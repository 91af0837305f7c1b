"""A client that logs in to an agent from its terminal, and the agent: `python login_client.py [agent [--login]]`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from acp_bindings import v1
from acp_kit.client import log_in_from_terminal
from acp_runtime import AuthenticationRequired

TOKEN = Path("token")
CAPABILITIES = v1.ClientCapabilities(auth=v1.AuthCapabilities(terminal=True))


class LoginAgent(v1.Agent):
    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        method = v1.AuthMethodTerminal(id="t", name="Log in", args=["--login"], env={"GREETING": "Hello"})
        return v1.InitializeResponse(protocol_version=1, auth_methods=[method])

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        if not TOKEN.exists():
            raise AuthenticationRequired
        return v1.NewSessionResponse(session_id=TOKEN.read_text("utf-8"))

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason="end_turn")


class QuietClient(v1.Client):
    async def session_update(self, notification: v1.SessionNotification) -> None:
        pass

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())


def log_in() -> None:
    token = input(f"{os.environ['GREETING']}, is this a terminal? {sys.stdin.isatty()}. Token: ")
    if not token:
        sys.exit(7)
    TOKEN.write_text(token, "utf-8")


async def use() -> None:
    command = [sys.executable, __file__, "agent"]
    async with v1.spawn_agent(lambda agent: QuietClient(), *command) as agent:
        initialized = await agent.initialize(protocol_version=1, client_capabilities=CAPABILITIES)
        (method,) = initialized.auth_methods
        assert isinstance(method, v1.AuthMethodTerminal)
        for _ in range(2):
            print("exit code", await log_in_from_terminal(method, *command), flush=True)
        session = await agent.session_new(cwd=os.getcwd(), mcp_servers=[])
        print("session", session.session_id, flush=True)


if __name__ == "__main__":
    if "--login" in sys.argv:
        log_in()
    elif "agent" in sys.argv:
        asyncio.run(v1.serve_stdio(lambda client: LoginAgent()))
    else:
        asyncio.run(use())
