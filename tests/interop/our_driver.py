"""Our client, driven with the commands of `driver.py`. It runs in the process of the tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import TypeAdapter, ValidationError

from acp_bindings import v1
from acp_bindings.v1.methods import AGENT_REQUESTS, CLIENT_REQUESTS
from acp_kit.client import deliver_update
from acp_kit.remote import open_transport
from acp_runtime import ConnectionClosed, GuardError, MethodNotFound, RequestError
from acp_runtime.stubs.methods import Request
from tests.interop.driver import Command, Driver


class OurDriver(Driver):
    """Executes the commands itself instead of sending them to a process.

    Attributes:
        agent: the proxy of the agent.
        responses: how to answer the agent's requests.
    """

    def __init__(self, agent: v1.RemoteAgent) -> None:
        super().__init__(self._begin)
        self.agent = agent
        self.responses: dict[str, Any] = {}
        self._tasks: dict[asyncio.Task[None], str | None] = {}

    @classmethod
    @asynccontextmanager
    async def connected(cls, target: Command | str) -> AsyncIterator[OurDriver]:
        """Start an agent, or connect to the one behind a URL."""
        if isinstance(target, str):
            connection = v1.connect(ScriptedClient, await open_transport(target))
        else:
            connection = v1.spawn_agent(ScriptedClient, *target)
        async with connection as agent:
            handler = agent.handler
            assert isinstance(handler, ScriptedClient)
            handler.client = client = cls(agent)
            yield client

    def _begin(self, command: dict[str, Any]) -> None:
        task = asyncio.create_task(self._execute(command["id"], command))
        self._tasks[task] = command.get("call")
        task.add_done_callback(self._tasks.pop)

    async def _execute(self, id: int, command: dict[str, Any]) -> None:
        try:
            result = await self._perform(command)
        except asyncio.CancelledError:
            self.receive({"id": id, "error": {"code": -32800, "message": "cancelled"}})
        except RequestError as error:
            self.receive({"id": id, "error": {"code": error.code, "message": error.message, "data": error.data}})
        except (ConnectionClosed, GuardError) as error:
            self.receive({"id": id, "error": {"code": None, "message": str(error)}})
        else:
            self.receive({"id": id, "result": result})

    async def _perform(self, command: dict[str, Any]) -> Any:
        if "responses" in command:
            self.responses = command["responses"]
            return None
        if "cancel_call" in command:
            for task, method in self._tasks.items():
                if method == command["cancel_call"]:
                    task.cancel()
            return None
        method, params = command.get("call") or command["notify"], command["params"]
        if method == "session/cancel":
            return await self.agent.session_cancel(session_id=params["sessionId"])
        if "notify" in command:
            return await self.agent.ext_notification(method, params)
        try:
            request = TypeAdapter(AGENT_REQUESTS[method].params_type).validate_python(params)
        except (KeyError, ValidationError):  # it is an extension, or to be refused by the agent
            return await self.agent.ext_request(method, params)
        return _to_json(await self.agent.request(request))


class ScriptedAnswers:
    """The handlers of all requests to clients."""

    client: OurDriver

    @classmethod
    def add(cls, method: Request[Any, Any]) -> None:
        async def handle(self: ScriptedAnswers, request: Any) -> Any:
            return await self._answer(method, request)

        setattr(cls, method.name, handle)

    async def _answer(self, method: Request[Any, Any], request: Any) -> Any:
        self.client.receive({"event": method.wire, "params": _to_json(request)})
        scripted = self.client.responses[method.wire]
        if "error" in scripted:
            raise RequestError(**scripted["error"])
        if "crash" in scripted:
            raise RuntimeError(scripted["crash"])
        if "cancelled" in scripted:
            await asyncio.Event().wait()  # the runtime answers when the session is cancelled
        return TypeAdapter(method.result_type).validate_python(scripted["result"])


for method in CLIENT_REQUESTS.values():
    ScriptedAnswers.add(method)


class ScriptedClient(ScriptedAnswers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent

    async def session_update(self, notification: v1.SessionNotification) -> None:
        deliver_update(self.agent, notification)
        self.client.receive({"event": "session/update", "params": _to_json(notification)})

    async def ext_request(self, method: str, params: Any) -> Any:
        if method not in self.client.responses:
            raise MethodNotFound(method)
        self.client.receive({"event": method, "params": params})
        return self.client.responses[method]["result"]

    async def ext_notification(self, method: str, params: Any) -> None:
        self.client.receive({"event": method, "params": params})


def _to_json(model: Any) -> Any:
    return json.loads(model.model_dump_json())
