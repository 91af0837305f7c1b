"""An agent for the official SDK: `agent.py ours|official`. The text of a prompt says what it does."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from importlib import import_module
from typing import Any

from acp import Agent, RequestError, text_block, update_agent_message, update_agent_message_text
from acp.schema import (
    AgentCapabilities,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
)

connecting = import_module({"ours": "acp_kit.official", "official": "acp"}[sys.argv[1]])
# Reads from a socket until that is closed.
CHILD = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(1)"


class TestAgent(Agent):
    """Does what a prompt asks for."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        capabilities = AgentCapabilities(load_session=True)
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=capabilities)

    async def new_session(self, cwd: str, **meta: Any) -> NewSessionResponse:
        await self.client.session_update("s", update_agent_message_text("early"))
        return NewSessionResponse(session_id="s", field_meta={"cwd": cwd, "trace": meta.get("trace")})

    async def load_session(self, **_: Any) -> None:
        raise RequestError(-32002, "Resource not found", {"uri": "x", "nested": [1, None]})

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.log.append(f"cancel {session_id}")

    async def prompt(self, prompt: Any, session_id: str, **meta: Any) -> PromptResponse:
        command, _, argument = prompt[0].text.partition(" ")
        await getattr(self, f"do_{command}")(session_id, argument)
        return PromptResponse(stop_reason="end_turn", field_meta=meta or None)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"method": method, "params": params, "log": self.log}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.log.append(f"{method} {params}")

    async def do_count(self, session_id: str, argument: str) -> None:
        for number in range(int(argument)):
            await self.client.session_update(session_id, update_agent_message(text_block(str(number))))

    async def do_ask(self, session_id: str, _: str) -> None:
        self.log.append("asked")
        answer = await self.client.request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id="t"),
            options=[PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        self.log.append(f"answered {answer.outcome.outcome}")

    async def do_read(self, session_id: str, path: str) -> None:
        file = await self.client.read_text_file(session_id=session_id, path=path, limit=2)
        try:
            await self.client.write_text_file(session_id=session_id, path=path, content=file.content)
        except RequestError as error:
            self.log.append(f"{error.code} {error} {error.data}")
        await self.client.ext_notification("wrote", {"path": path})

    async def do_wait(self, _: str, __: str) -> None:
        self.log.append("waiting")
        await asyncio.Event().wait()

    async def do_complain(self, _: str, size: str) -> None:
        sys.stderr.write("x" * int(size))
        sys.stderr.flush()

    async def do_die(self, _: str, __: str) -> None:
        sys.stderr.write("fatal: no API key\n")
        sys.stderr.flush()
        os._exit(3)

    async def do_start(self, _: str, port: str) -> None:
        subprocess.Popen([sys.executable, "-c", CHILD, port], stdout=subprocess.DEVNULL)


asyncio.run(connecting.run_agent(TestAgent()))
