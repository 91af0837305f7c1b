"""The client of docs/guides/authentication.md starts the agent again after a login in the terminal."""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from acp_runtime import AuthenticationRequired
from tests.support.docs.blocks import DOCS
from tests.support.docs.files import steps

PAGE = DOCS / "guides" / "authentication.md"
# An agent that reads its token only when it starts.
AGENT = """
import asyncio, pathlib, sys
from acp_bindings import v1
from acp_runtime import AuthenticationRequired

token = pathlib.Path("token")
if "--login" in sys.argv:
    sys.exit(token.write_text("secret") - len("secret"))
is_logged_in = token.exists()


class TokenAgent(v1.Agent):
    async def initialize(self, request):
        methods = [v1.AuthMethodTerminal(id="terminal", name="Log in", args=["--login"])]
        return v1.InitializeResponse(protocol_version=1, auth_methods=methods)

    async def session_new(self, request):
        if not is_logged_in:
            raise AuthenticationRequired
        return v1.NewSessionResponse(session_id="session-1")

    async def session_prompt(self, request):
        raise AssertionError


asyncio.run(v1.serve_stdio(lambda client: TokenAgent()))
"""


async def test_the_agent_is_started_again_after_a_login_in_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT, "utf-8")
    page: dict[str, Any] = {"__name__": "authentication"}
    exec(steps(PAGE)[-1].files["authentication.py"], page)
    command = [sys.executable, "agent.py"]
    method = page["v1"].AuthMethodTerminal(id="terminal", name="Log in", args=["--login"])
    async with AsyncExitStack() as stack:
        first = await page["start"](stack, command)
        with pytest.raises(AuthenticationRequired):
            await first.session_new(cwd=os.getcwd(), mcp_servers=[])
        second = await page["log_in"](stack, command, first, method)
        assert (await second.session_new(cwd=os.getcwd(), mcp_servers=[])).session_id == "session-1"
        assert first.process.returncode == 0
