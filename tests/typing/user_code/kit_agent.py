"""An agent that is written with acp_kit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, assert_type

from pydantic import BaseModel

from acp_bindings import v1
from acp_kit.agent import Commands, Session, Sessions, Settings, TerminalResult, Turn, select, toggle
from acp_kit.client import ClientSession, open_session
from acp_kit.content import diff, image, link, prompt_for, resource, text, to_text
from acp_kit.frame_log import FrameLog
from acp_kit.history import HistoryStore, MemoryHistory, SqlHistory, replay
from acp_kit.threads import FromThread, from_thread
from acp_runtime import Options

commands = Commands()


class Choice(BaseModel):
    name: str


def root_of(session: Session) -> Path:
    return session.roots[0]


@commands.add("compact", "Shortens the conversation", hint="what to keep")
async def compact(turn: Turn, text: str) -> None:
    await turn.say(f"Keeping {text}")


class KitAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient, history: HistoryStore) -> None:
        self.client = client
        self.history = history
        self.sessions = Sessions(record=history.append)
        self.settings: dict[str, Settings] = {}

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(
            self.client, cwd=request.cwd, additional_directories=request.additional_directories
        )
        assert_type(session, Session)
        await self.history.create(session.id, cwd=request.cwd)
        settings = Settings(session, [select("mode", "Mode", {"ask": "Ask"}, category="mode"), toggle("web", "Web")])
        self.settings[session.id] = settings
        assert_type(settings["web"], str | bool)
        await commands.advertise(session)
        await replay(self.history, session.id, self.client)
        return v1.NewSessionResponse(
            session_id=session.id, modes=settings.modes, config_options=settings.config_options
        )

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        return await self.settings[request.session_id].set_mode(request)

    async def session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        return await self.settings[request.session_id].set_config_option(request)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        session = self.sessions[request.session_id]
        async with session.turn(request.prompt) as turn:
            assert_type(turn, Turn)
            if await commands.run(turn, request.prompt):
                return turn.response
            await turn.say("Let me look. ")
            await turn.say(v1.ContentBlockText(text="Now."))
            await turn.think(image("dot.png"))
            await turn.plan(v1.PlanEntry(content="Look", priority="low", status="pending"))
            path = session.cwd / "notes.txt"
            async with turn.tool_call("Read it", kind="read", tool="read", locations=[str(path)]) as call:
                assert_type(await call.ask(), str | None)
                assert_type(await turn.read_text_file(path, line=1, limit=10), str)
                call.output("text", text("block"), diff(path, None, "new"), raw={"lines": 1})
            assert_type(call.rejected, bool)
            async with turn.terminal("pytest", "-q", cwd="/work", env={"CI": "1"}) as terminal:
                call.output(terminal.content)
                assert_type(await terminal.wait(timeout=60), TerminalResult)
            result = await turn.run("make | tail", shell=True, timeout=60, cwd=root_of(session), call=call)
            assert_type(result, TerminalResult)
            assert_type((await turn.elicit("Which?", Choice)).values, Choice | None)
            assert_type((await turn.elicit("Which?", {"properties": {}})).values, dict[str, Any] | None)
            answer = await turn.elicit("Which?", v1.ElicitationSchema())
            if answer.action == "decline":
                assert_type(answer.values, dict[str, Any] | None)
            opened: str = await turn.elicit_url("Where?", "https://example.com", call=call)
            assert opened
            await asyncio.to_thread(self.work, from_thread(self.client), turn)
            turn.stop_reason = "max_tokens"
        assert_type(turn.stop_reason, v1.StopReason)
        return turn.response

    def work(self, call: FromThread, turn: Turn) -> None:
        assert_type(call(turn.say, "from a thread"), None)
        option = v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")
        with_options = call(turn.tool_call("Ask").ask, [option])
        assert_type(with_options, str | None)


async def use(agent: v1.RemoteAgent, root: Path) -> None:
    async with open_session(agent, cwd=root) as session:
        assert_type(session, ClientSession)
        blocks: list[v1.ContentBlock] = [text("hello"), resource(root / "a.py"), link(root / "b.py")]
        async with session.prompt(prompt_for(agent, blocks)) as turn:
            async for update in turn:
                if update.session_update == "agent_message_chunk" and isinstance(update.content, v1.ContentBlockImage):
                    assert_type(update.content.mime_type, str)
        assert_type(turn.stop_reason, v1.StopReason | None)
        assert_type(turn.text, str)
        assert_type(session.state.text, str)
        assert_type(await session.ask(blocks), str)
        assert_type(to_text(blocks), str)


async def main() -> None:
    async with SqlHistory("history.db") as history:
        await v1.serve_stdio(lambda client: KitAgent(client, history), options=Options(on_frame=FrameLog("acp.jsonl")))
    await v1.serve_stdio(lambda client: KitAgent(client, MemoryHistory()))
