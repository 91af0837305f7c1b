"""An agent in a process of its own that does what a prompt says: `python -m <this module> [<file for its end>]`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from acp_bindings import v1
from acp_kit.agent import Sessions, Turn
from acp_kit.content import to_text


class ActingAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await self.act(turn, to_text(request.prompt))
        return turn.response

    async def act(self, turn: Turn, prompt: str) -> None:
        match prompt:
            case "ask":
                await turn.say("May I? ")
                async with turn.tool_call("Delete everything", kind="delete") as call:
                    await call.ask()
                await turn.say("no" if call.rejected else "yes")
            case "wait":
                await turn.say("waiting")
                try:
                    await asyncio.Event().wait()
                finally:
                    note("cancelled")
            case "exit":
                os._exit(3)
            case _:
                await turn.say(prompt)


def note(word: str) -> None:
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("a") as file:
            file.write(f"{word}\n")


if __name__ == "__main__":
    asyncio.run(v1.serve_stdio(ActingAgent))
    note("ended")
