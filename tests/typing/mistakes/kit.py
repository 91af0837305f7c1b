"""Mistakes in the use of acp_kit."""

from __future__ import annotations

from acp_bindings.v1 import RemoteAgent, RemoteClient, SessionUpdatePlan
from acp_kit.agent import Commands, Session, Sessions, Settings, Turn, select
from acp_kit.client import PermissionPolicy, Terminals, Workspace, allow, open_session
from acp_kit.content import image, to_text
from acp_kit.history import MemoryHistory
from acp_kit.threads import from_thread

commands = Commands()


@commands.add("compact", "Shortens the conversation")  # E
async def takes_no_text(turn: Turn) -> None: ...


@commands.add("help", "Lists the commands")  # E
def not_a_coroutine(turn: Turn, text: str) -> None: ...


async def agent_side(client: RemoteClient, turn: Turn, session: Session) -> None:
    Sessions(record=lambda update: None)  # E
    Sessions().create(client)  # E
    await turn.say(1)  # E
    await turn.plan("look")  # E
    turn.tool_call("Read", kind="reading")  # E
    turn.tool_call("Read", locations=[1])  # E
    turn.stop_reason = "done"  # E
    async with turn.tool_call("Read") as call:
        await call.ask(["yes"])  # E
        call.output(SessionUpdatePlan(entries=[]))  # E
        call.diff("/a", new="x")  # E
    async with turn.terminal("ls", env=[("A", "1")]) as terminal:  # E
        await terminal.wait(timeout="60")  # E
    Settings(session, [select("a", "A", ["x"])])  # E
    Settings(session, {"a": "x"})  # E
    call_client = from_thread(client)
    call_client(turn.say, 1)  # E
    call_client(turn.say)  # E


async def client_side(agent: RemoteAgent) -> None:
    async with open_session(agent) as session:  # E
        session.prompt(1)  # E
    async with open_session(agent, cwd="/", load=1) as session, session.prompt("x") as turn:  # E
        turn.stop_reason = "end_turn"  # E
        for _ in turn:  # E
            pass
    Workspace(encoding=1)  # E
    Terminals(grace="1")  # E
    PermissionPolicy(allow(kinds=["reading"]))  # E
    PermissionPolicy(ask=lambda request: True)  # E
    image("a.png", mime_type=1)  # E
    to_text("hello")  # E
    await MemoryHistory().append("s", "hello")  # E
