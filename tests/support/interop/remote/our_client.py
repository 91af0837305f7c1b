"""Our client, driven with the commands of `their_client.py`. It runs in the process of the tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from acp_bindings import v1
from acp_kit.remote import open_transport
from acp_runtime import ConnectionClosed, MethodNotFound, RequestError
from acp_runtime.models.model import Model
from tests.support.interop.their_client import TheirClient

REQUESTS: dict[str, type[Any]] = {
    "initialize": v1.InitializeRequest,
    "session/new": v1.NewSessionRequest,
    "session/load": v1.LoadSessionRequest,
    "session/list": v1.ListSessionsRequest,
    "session/resume": v1.ResumeSessionRequest,
    "session/close": v1.CloseSessionRequest,
    "session/set_mode": v1.SetSessionModeRequest,
    "session/prompt": v1.PromptRequest,
}


class OurClient(TheirClient):
    """Executes the commands itself instead of sending them to a process."""

    def __init__(self, agent: v1.RemoteAgent) -> None:
        super().__init__(self._begin)
        self._agent = agent
        self._tasks: set[asyncio.Task[None]] = set()
        self.responses: dict[str, Any] = {}

    @classmethod
    @asynccontextmanager
    async def connected(cls, url: str) -> AsyncIterator[OurClient]:
        """Connect to the agent behind a URL."""
        async with v1.connect(Scripted, await open_transport(url)) as agent:
            handler = agent.handler
            assert isinstance(handler, Scripted)
            handler.client = client = cls(agent)
            yield client

    def _begin(self, command: dict[str, Any]) -> None:
        task = asyncio.create_task(self._execute(command["id"], command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _execute(self, id: int, command: dict[str, Any]) -> None:
        try:
            result = await self._result(command)
        except RequestError as error:
            self.receive({"id": id, "error": {"code": error.code, "message": error.message, "data": error.data}})
        except ConnectionClosed as closed:
            self.receive({"id": id, "error": {"code": None, "message": str(closed)}})
        else:
            self.receive({"id": id, "result": result})

    async def _result(self, command: dict[str, Any]) -> Any:
        if "responses" in command:
            self.responses = command["responses"]
            return None
        method, params = command.get("call") or command["notify"], command["params"]
        if method == "session/cancel":
            await self._agent.session_cancel(session_id=params["sessionId"])
        elif "notify" in command:
            await self._agent.ext_notification(method, params)
        elif method in REQUESTS:
            return _plain(await self._agent.request(REQUESTS[method].model_validate(params)))
        else:
            return await self._agent.ext_request(method, params)
        return None


class Scripted(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.client: OurClient

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.client.receive({"event": "session/update", "params": _plain(notification)})

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse.model_validate(await self._answer("session/request_permission", request))

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        return v1.ReadTextFileResponse.model_validate(await self._answer("fs/read_text_file", request))

    async def fs_write_text_file(self, request: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        return v1.WriteTextFileResponse.model_validate(await self._answer("fs/write_text_file", request))

    async def terminal_create(self, request: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        return v1.CreateTerminalResponse.model_validate(await self._answer("terminal/create", request))

    async def terminal_output(self, request: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        return v1.TerminalOutputResponse.model_validate(await self._answer("terminal/output", request))

    async def terminal_kill(self, request: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        return v1.KillTerminalResponse.model_validate(await self._answer("terminal/kill", request))

    async def terminal_wait_for_exit(self, request: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        return v1.WaitForTerminalExitResponse.model_validate(await self._answer("terminal/wait_for_exit", request))

    async def terminal_release(self, request: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        return v1.ReleaseTerminalResponse.model_validate(await self._answer("terminal/release", request))

    async def elicitation_create(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        return v1.CreateElicitationResponseAccept.model_validate(await self._answer("elicitation/create", request))

    async def ext_request(self, method: str, params: Any) -> Any:
        if method not in self.client.responses:
            raise MethodNotFound(method)
        self.client.receive({"event": method, "params": params})
        return self.client.responses[method]["result"]

    async def ext_notification(self, method: str, params: Any) -> None:
        self.client.receive({"event": method, "params": params})

    async def _answer(self, method: str, request: Model) -> Any:
        self.client.receive({"event": method, "params": _plain(request)})
        scripted = self.client.responses[method]
        if "error" in scripted:
            raise RequestError(**scripted["error"])
        if "cancelled" in scripted:
            await asyncio.Event().wait()  # the runtime answers when the session is cancelled
        return scripted["result"]


def _plain(model: Any) -> Any:
    return json.loads(model.model_dump_json())
