"""Mistakes in the use of acp_kit."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import acp_kit.agent
import acp_kit.client
import acp_kit.history
import acp_kit.registry
import acp_kit.remote
import acp_kit.sync
from acp_bindings import v2_draft
from acp_bindings.v1 import RemoteAgent, RemoteClient, SessionUpdatePlan
from acp_kit.agent import Commands, Session, Sessions, Settings, Turn, select
from acp_kit.client import Elicitations, PermissionPolicy, Terminals, Workspace, allow, open_session
from acp_kit.content import image, to_text
from acp_kit.history import MemoryHistory
from acp_kit.threads import from_thread

commands = Commands()


@commands.add("compact", "Shortens the conversation")  # type: ignore
async def takes_no_text(turn: Turn) -> None: ...


@commands.add("help", "Lists the commands")  # type: ignore
def not_a_coroutine(turn: Turn, text: str) -> None: ...


async def agent_side(client: RemoteClient, turn: Turn, session: Session, draft: v2_draft.RemoteClient) -> None:
    Sessions().create(draft, cwd="/work")  # type: ignore
    Sessions(record=lambda update: None)  # type: ignore
    Sessions().create(client)  # type: ignore
    await turn.say(1)  # type: ignore
    await turn.plan("look")  # type: ignore
    turn.tool_call("Read", kind="reading")  # type: ignore
    turn.tool_call("Read", locations=[1])  # type: ignore
    turn.stop_reason = "done"  # type: ignore
    async with turn.tool_call("Read") as call:
        await call.ask(["yes"])  # type: ignore
        call.output(SessionUpdatePlan(entries=[]))  # type: ignore
        call.diff("/a", new="x")  # type: ignore
    async with turn.terminal("ls", env=[("A", "1")]) as terminal:  # type: ignore
        await terminal.wait(timeout="60")  # type: ignore
    await turn.run(["ls"])  # type: ignore
    await turn.run("ls", timeout="60")  # type: ignore
    await turn.elicit("Which?", str)  # type: ignore
    await turn.elicit_url("Where?")  # type: ignore
    Settings(session, [select("a", "A", ["x"])])  # type: ignore
    Settings(session, {"a": "x"})  # type: ignore
    call_client = from_thread(client)
    call_client(turn.say, 1)  # type: ignore
    call_client(turn.say)  # type: ignore


async def client_side(agent: RemoteAgent) -> None:
    async with open_session(agent) as session:  # type: ignore
        session.prompt(1)  # type: ignore
        await session.ask(1)  # type: ignore
    async with open_session(agent, cwd="/", load=1) as session, session.prompt("x") as turn:  # type: ignore
        turn.stop_reason = "end_turn"  # type: ignore
        for _ in turn:  # type: ignore
            pass
    Workspace(encoding=1)  # type: ignore
    Terminals(grace="1")  # type: ignore
    PermissionPolicy(allow(kinds=["reading"]))  # type: ignore
    PermissionPolicy(ask=lambda request: True)  # type: ignore
    Elicitations(fill_in=lambda request: {})  # type: ignore
    image("a.png", mime_type=1)  # type: ignore
    to_text("hello")  # type: ignore
    await MemoryHistory().append("s", "hello")  # type: ignore


def misspelt_names() -> None:
    print(acp_kit.agent.SessionS)  # type: ignore
    print(acp_kit.client.Worksapce)  # type: ignore
    print(acp_kit.history.MemoryHistroy)  # type: ignore
    print(acp_kit.registry.Registri)  # type: ignore
    print(acp_kit.remote.agentapp)  # type: ignore
    print(acp_kit.sync.SyncSesion)  # type: ignore
