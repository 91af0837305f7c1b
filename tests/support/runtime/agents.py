"""Agents for tests that need a process of their own: `python -m tests.support.runtime.agents <name>`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from typing import Any

from acp_bindings.v1 import (
    Agent,
    ContentBlockText,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    SessionUpdateAgentMessageChunk,
    serve_stdio,
)
from acp_runtime import Options


class Echo(Agent):
    """Answers a prompt with one update."""

    def __init__(self, client: RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        return NewSessionResponse(session_id="s1")

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        update = SessionUpdateAgentMessageChunk(content=ContentBlockText(text="hello"))
        await self.client.session_update(session_id=request.session_id, update=update)
        return PromptResponse(stop_reason="end_turn")

    async def ext_request(self, method: str, params: Any) -> Any:
        match method:
            case "_pid":
                return os.getpid()
            case "_large":
                return "x" * int(params)
            case _:
                return await super().ext_request(method, params)


class Printing(Echo):
    """Writes to stdout in every possible way, also from a child process."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        print("from print")
        os.write(1, b"from os.write\n")
        subprocess.run([sys.executable, "-I", "-S", "-c", "print('from a child')"], check=True)
        read = subprocess.run(
            [sys.executable, "-I", "-S", "-c", "import sys; print(repr(sys.stdin.read()))"], check=True
        )
        assert read.returncode == 0
        return await super().session_prompt(request)


class Stubborn(Echo):
    """Never ends a prompt, even if it is cancelled."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        await super().session_prompt(request)
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()


AGENTS = {"echo": Echo, "printing": Printing, "stubborn": Stubborn}

if __name__ == "__main__":
    print("before it serves")
    asyncio.run(serve_stdio(AGENTS[sys.argv[1]], options=Options(handler_deadline=0.2)))
