"""Scripted peers for tests: real agents and clients that send real messages, whose content is scripted.

For example:

    agent = ScriptedAgent(["Hello ", edit, "done"], RequestError(429, "quota"), wait)  # one for each prompt
    async with connect(agent, MyClient) as session:
        assert await session.ask("hi") == "Hello done"
    agent.assert_done()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.common.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from acp_kit.testing.agent import Answer as Answer, ScriptedAgent as ScriptedAgent
    from acp_kit.testing.client import EDITORS as EDITORS, ScriptedClient as ScriptedClient, as_client as as_client
    from acp_kit.testing.connecting import connect as connect
    from acp_kit.testing.processes import run_client as run_client
    from acp_kit.testing.replay import Replay as Replay
    from acp_kit.testing.replaying import replay_client as replay_client
    from acp_kit.testing.steps import (
        Step as Step,
        die as die,
        garbage as garbage,
        ignore_cancel as ignore_cancel,
        late as late,
        reuse_id as reuse_id,
        slow as slow,
        wait as wait,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "agent": ["Answer", "ScriptedAgent"],
            "client": ["EDITORS", "ScriptedClient", "as_client"],
            "connecting": ["connect"],
            "processes": ["run_client"],
            "replay": ["Replay"],
            "replaying": ["replay_client"],
            "steps": ["Step", "die", "garbage", "ignore_cancel", "late", "reuse_id", "slow", "wait"],
        },
    )
