"""An agent written with acp_kit. A prompt says what to do. Argument: the file for the log of its messages, if any."""

from __future__ import annotations

import asyncio
import sys
from contextlib import nullcontext

from acp_bindings import v1
from acp_kit.agent import Commands, Sessions, Settings, Turn, select, toggle
from acp_kit.content import to_text
from acp_kit.frame_log import FrameLog
from acp_kit.history import MemoryHistory, replay
from acp_runtime import Options

OPTIONS = [
    select("mode", "Mode", {"ask": "Ask", "code": "Code"}, category="mode"),
    select("model", "Model", {"small": "Small", "large": "Large"}),
    toggle("verbose", "Verbose"),
]
commands = Commands()


@commands.add("shout", "Says it loudly", hint="what to say")
async def shout(turn: Turn, text: str) -> None:
    await turn.say(text.upper())


class KitAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.history = MemoryHistory()
        self.sessions = Sessions(record=self.history.append)
        self.settings: dict[str, Settings] = {}

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=v1.AgentCapabilities(load_session=True))

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd, session_id="new")
        await self.history.create("new", cwd=request.cwd)
        settings = self.settings["new"] = Settings(session, OPTIONS)
        await commands.advertise(session)
        return v1.NewSessionResponse(
            session_id=session.id, modes=settings.modes, config_options=settings.config_options
        )

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        await replay(self.history, request.session_id, self.client)
        return v1.LoadSessionResponse(modes=self.settings["new"].modes)

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        return await self.settings[request.session_id].set_mode(request)

    async def session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        return await self.settings[request.session_id].set_config_option(request)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            if not await commands.run(turn, request.prompt):
                act, *names = to_text(request.prompt[:1]).split()
                await {"edit": edit, "run": run, "wait": wait, "work": work, "write": write}[act](turn, *names)
        return turn.response


async def edit(turn: Turn) -> None:
    async with turn.tool_call("Edit it", kind="edit", tool="edit", locations=["/tmp/file"]) as call:
        text = await turn.read_text_file("file", line=2, limit=1)
        call.diff("/tmp/file", old=text, new="new\n")
        await call.ask()
        await turn.write_text_file("file", "new\n")
    await turn.say("rejected" if call.rejected else "edited")


async def run(turn: Turn) -> None:
    async with (
        turn.tool_call("Run it", kind="execute") as call,
        turn.terminal("make", "-s", env={"CC": "cc"}, output_byte_limit=1000) as terminal,
    ):
        call.output(terminal.content)
        await call.update()
        done = await terminal.wait(timeout=60)
        await turn.say(f"{done.output.strip()} {done.exit_code} {done.signal} {done.truncated}")


async def wait(turn: Turn) -> None:
    async with turn.tool_call("Wait"):
        await turn.say("waiting")
        await asyncio.Event().wait()


async def work(turn: Turn) -> None:
    await turn.think("hm")
    await turn.plan(v1.PlanEntry(content="work", priority="low", status="completed"))
    for word in ("It ", "is ", "done."):
        await turn.say(word)


async def write(turn: Turn, *names: str) -> None:
    for name in names:
        async with turn.tool_call(f"Write {name}", kind="edit", locations=[name]) as call:
            await call.change(name, "new\n")
            await call.ask()
            await turn.write_text_file(name, "new\n")


if __name__ == "__main__":
    with FrameLog(sys.argv[1]) if sys.argv[1:] else nullcontext() as log:
        asyncio.run(v1.serve_stdio(KitAgent, options=Options(on_frame=log)))
