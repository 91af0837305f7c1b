"""An agent that calls the methods of its client which a prompt lists, written with the official Python SDK.

The prompt is a JSON list of calls, each a method and its params without the session. The agent says the list of their
results and errors. In params, "$terminal" stands for the id of the terminal that was created last.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import acp
from acp import RequestError, schema

METHODS: dict[str, tuple[str, type[Any]]] = {
    "fs/read_text_file": ("read_text_file", schema.ReadTextFileRequest),
    "fs/write_text_file": ("write_text_file", schema.WriteTextFileRequest),
    "session/request_permission": ("request_permission", schema.RequestPermissionRequest),
    "terminal/create": ("create_terminal", schema.CreateTerminalRequest),
    "terminal/output": ("terminal_output", schema.TerminalOutputRequest),
    "terminal/wait_for_exit": ("wait_for_terminal_exit", schema.WaitForTerminalExitRequest),
    "terminal/kill": ("kill_terminal", schema.KillTerminalRequest),
    "terminal/release": ("release_terminal", schema.ReleaseTerminalRequest),
}


class ToolAgent(acp.Agent):
    client: acp.Client

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        return schema.NewSessionResponse(session_id="new")

    async def cancel(self, session_id: str, **_: Any) -> None:
        pass

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        terminal, results = "", []
        for method, params in json.loads(prompt[0].text):
            own = {key: terminal if value == "$terminal" else value for key, value in params.items()}
            results.append(await self._result(method, {"sessionId": session_id, **own}))
            terminal = results[-1].get("result", {}).get("terminalId", terminal)
        await self.client.session_update(session_id, acp.update_agent_message_text(json.dumps(results)))
        return schema.PromptResponse(stop_reason="end_turn")

    async def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        name, cls = METHODS[method]
        request = cls.model_validate(params)
        arguments = {field: getattr(request, field) for field in request.model_fields_set}
        try:
            response = await getattr(self.client, name)(**arguments)
        except RequestError as error:
            return {"error": {"code": error.code, "message": str(error), "data": error.data}}
        plain = response.model_dump(mode="json", by_alias=True, exclude_none=True) if response else {}
        return {"result": plain}


if __name__ == "__main__":
    asyncio.run(acp.run_agent(ToolAgent(), use_unstable_protocol=True))
