"""An agent that dies when it is told to, and keeps its sessions in files of its working folder.

`python mortal_agent.py [load] [resume]`: which of the two it advertises. It can't be started while there is a file
`broken`, can't open the session again whose file was removed, and never answers for the one that `stuck` names.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.content import to_text
from acp_runtime import ResourceNotFound


class MortalAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        if Path("broken").exists():
            os._exit(4)
        resume = v1.SessionResumeCapabilities() if "resume" in sys.argv else None
        return v1.InitializeResponse(
            protocol_version=1,
            agent_capabilities=v1.AgentCapabilities(
                load_session="load" in sys.argv, session_capabilities=v1.SessionCapabilities(resume=resume)
            ),
        )

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        Path(session.id).touch()
        return v1.NewSessionResponse(session_id=session.id)

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        self._open(request.session_id, request.cwd)
        for line in Path(request.session_id).read_text("utf-8").splitlines():
            content = v1.ContentBlockText(text=line)
            await self.client.session_update(
                session_id=request.session_id, update=v1.SessionUpdateUserMessageChunk(content=content)
            )
        if Path("dies-while-loading").exists():
            Path("dies-while-loading").unlink()
            os._exit(5)
        if Path("stuck").exists() and Path("stuck").read_text() == request.session_id:
            await asyncio.Event().wait()
        return v1.LoadSessionResponse()

    async def session_resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        self._open(request.session_id, request.cwd)
        return v1.ResumeSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        prompt = to_text(request.prompt)
        with Path(request.session_id).open("a", encoding="utf-8") as file:
            file.write(f"{prompt}\n")
        async with self.sessions[request.session_id].turn() as turn:
            if prompt == "die":
                os._exit(3)
            count = len(Path(request.session_id).read_text("utf-8").splitlines())
            await turn.say(f"prompt {count} of process {os.getpid()}")
            if prompt == "hang":
                await asyncio.Event().wait()
        return turn.response

    def _open(self, session_id: str, cwd: str) -> None:
        if not Path(session_id).exists():
            raise ResourceNotFound("There is no such session")
        self.sessions.create(self.client, cwd=cwd, session_id=session_id)


if __name__ == "__main__":
    asyncio.run(v1.serve_stdio(MortalAgent))
