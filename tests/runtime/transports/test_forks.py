"""Rule 23: a child that is forked inside of a connection's block leaves the connection and the agent to its parent."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")

AGENT = """
import asyncio, os, sys
from acp_bindings import v1

class ForkingAgent(v1.Agent):
    def __init__(self, client):
        self.client = client

    async def initialize(self, request):
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request):
        return v1.NewSessionResponse(session_id="s1")

    async def session_prompt(self, request):
        if request.prompt[0].text == "fork":
            child = os.fork()
            if child == 0:
                sys.exit(3)
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        return v1.PromptResponse(stop_reason="end_turn")

asyncio.run(v1.serve_stdio(ForkingAgent))
"""

CLIENT = """
import asyncio, os, signal, sys
from acp_bindings import v1
from acp_runtime import Options

class Quiet(v1.Client):
    def __init__(self, agent):
        self.agent = agent

    async def session_update(self, notification):
        pass

    async def session_request_permission(self, request):
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())

async def main():
    options = Options(exit_deadline=20, stderr="capture")
    async with v1.spawn_agent(Quiet, sys.executable, "-c", AGENT, options=options) as agent:
        await agent.initialize(protocol_version=1)
        session = (await agent.session_new(cwd="/work", mcp_servers=[])).session_id
        child = os.fork() if LEAVE else None
        if child == 0:
            LEAVE(agent)
        if FORKS == "exit":
            print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        for text in (FORKS, "again", "and again"):
            prompt = [v1.ContentBlockText(text="fork" if text == "agent" else text)]
            print((await agent.session_prompt(session_id=session, prompt=prompt)).stop_reason)
    print(agent.process.returncode)
    if FORKS == "stay":
        os.kill(child, signal.SIGKILL)

def fail(agent):
    raise ValueError("in the child")

FORKS, AGENT = sys.argv[1:]
# In the child, the exit code of the agent is unknown.
LEAVE = {
    "exit": lambda agent: sys.exit(agent.process.returncode),
    "raise": fail,
    "stay": lambda agent: signal.pause(),
}.get(FORKS)
asyncio.run(main())
"""


@pytest.mark.parametrize("forks", ["exit", "raise", "stay", "agent"])
def test_rule_23_a_forked_child_does_not_disturb_the_connection(forks: str) -> None:
    program = [sys.executable, "-c", CLIENT, forks, AGENT]
    done = subprocess.run(program, capture_output=True, text=True, timeout=30, check=True)
    child = ["child 255"] if forks == "exit" else []
    assert done.stdout.splitlines() == [*child, "end_turn", "end_turn", "end_turn", "0"]
    assert "SIGTERM" not in done.stderr  # the child's copy of the pipe would keep the agent from reading the end
