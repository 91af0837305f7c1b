"""Scripted peers for tests: a real agent and a real client with real messages, of which only the content is scripted.

For example:

    agent = ScriptedAgent(["Hello ", edit, "done"], RequestError(429, "quota"), wait)  # one for each prompt
    async with connect(agent, MyClient) as session:
        assert await session.ask("hi") == "Hello done"
    agent.assert_done()
"""

from acp_kit.testing.agent import ScriptedAgent as ScriptedAgent, Step as Step
from acp_kit.testing.client import ScriptedClient as ScriptedClient
from acp_kit.testing.client_process import run_client as run_client
from acp_kit.testing.connecting import connect as connect
from acp_kit.testing.editors import EDITORS as EDITORS, as_client as as_client
from acp_kit.testing.replay import Replay as Replay
from acp_kit.testing.steps import (
    die as die,
    garbage as garbage,
    ignore_cancel as ignore_cancel,
    late as late,
    reuse_id as reuse_id,
    slow as slow,
    stop as stop,
    wait as wait,
)
