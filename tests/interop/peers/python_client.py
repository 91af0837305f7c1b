"""The client of the contract, written with the official Python SDK. `driver.py` describes its commands."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
from acp import RequestError, schema
from acp.transports import spawn_stdio_transport
from pydantic import BaseModel, TypeAdapter, ValidationError

# By method: the model of its params, and its name in the SDK.
CALLS: dict[str, tuple[type[BaseModel], str]] = {
    "initialize": (schema.InitializeRequest, "initialize"),
    "authenticate": (schema.AuthenticateRequest, "authenticate"),
    "session/new": (schema.NewSessionRequest, "new_session"),
    "session/load": (schema.LoadSessionRequest, "load_session"),
    "session/list": (schema.ListSessionsRequest, "list_sessions"),
    "session/resume": (schema.ResumeSessionRequest, "resume_session"),
    "session/close": (schema.CloseSessionRequest, "close_session"),
    "session/set_mode": (schema.SetSessionModeRequest, "set_session_mode"),
    "session/prompt": (schema.PromptRequest, "prompt"),
    "session/cancel": (schema.CancelNotification, "cancel"),
}
IS_NEXT = hasattr(acp.Agent, "delete_session")  # since 1.0.0rc1, which can also cancel calls
if IS_NEXT:
    CALLS["session/delete"] = (schema.DeleteSessionRequest, "delete_session")
OPTION_REQUESTS = {True: schema.SetSessionConfigOptionBooleanRequest, False: schema.SetSessionConfigOptionSelectRequest}


class ScriptedClient(acp.Client):
    def __init__(self, connection: int, version: str) -> None:
        self.connection = connection
        self.version = version
        self.models: Any = schema
        self.responses: dict[str, Any] = {}
        self.cancelled = asyncio.Event()
        self.calls: dict[str, tuple[int, asyncio.Task[None]]] = {}

    def emit(self, message: dict[str, Any]) -> None:
        sys.stdout.write(f"{json.dumps({'connection': self.connection, **message})}\n")
        sys.stdout.flush()

    def on_connect(self, conn: acp.Agent) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **meta: Any) -> None:
        self.emit({"event": "session/update", "params": {"sessionId": session_id, "update": to_json(update)}})

    async def create_elicitation(self, message: str, mode: Any, **meta: Any) -> Any:
        params = {"message": message, "mode": "form", **to_json(mode)}
        self.emit({"event": "elicitation/create", "params": params})
        response: TypeAdapter[Any] = TypeAdapter(schema.CreateElicitationResponse)
        return response.validate_python(self.responses["elicitation/create"]["result"])

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "interop/ask":
            raise RequestError.method_not_found(f"_{method}")
        self.emit({"event": f"_{method}", "params": params})
        result: dict[str, Any] = self.responses[f"_{method}"]["result"]
        return result

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.emit({"event": f"_{method}", "params": params})

    async def _respond(
        self, method: str, request: type[BaseModel], params: dict[str, Any], response: type[BaseModel]
    ) -> BaseModel:
        self.emit({"event": method, "params": to_json(request(**params))})
        scripted = self.responses[method]
        if "error" in scripted:
            raise RequestError(**scripted["error"])
        if "crash" in scripted:
            raise RuntimeError(scripted["crash"])
        if "disk" in scripted:
            return response.model_validate(access_disk(method, **params))
        if "cancelled" in scripted:
            await self.cancelled.wait()
            return response.model_validate(scripted["cancelled"])
        return response.model_validate(scripted["result"])


def make_handler(method: str, model: str) -> Any:
    """Return the client's method for a request. `model` is the beginning of the names of its models."""

    async def handle(client: ScriptedClient, **params: Any) -> BaseModel:
        request, response = (getattr(client.models, f"{model}{kind}") for kind in ("Request", "Response"))
        return await client._respond(method, request, params, response)

    return handle


for name, method in {
    "request_permission": "session/request_permission",
    "read_text_file": "fs/read_text_file",
    "write_text_file": "fs/write_text_file",
    "create_terminal": "terminal/create",
    "terminal_output": "terminal/output",
    "kill_terminal": "terminal/kill",
    "wait_for_terminal_exit": "terminal/wait_for_exit",
    "release_terminal": "terminal/release",
}.items():
    setattr(ScriptedClient, name, make_handler(method, "".join(map(str.capitalize, name.split("_")))))


def access_disk(method: str, path: str, content: str = "", **_: Any) -> dict[str, Any]:
    """Read or write a file, as a client without precautions does."""
    if method == "fs/read_text_file":
        return {"content": Path(path).read_text("utf-8")}
    Path(path).write_text(content, "utf-8")
    return {}


async def execute(agent: Any, client: ScriptedClient, command: dict[str, Any]) -> None:
    if "responses" in command:
        client.responses, client.cancelled = command["responses"], asyncio.Event()
        client.emit({"id": command["id"], "result": None})
        return
    if "cancel_call" in command:
        cancel_call(client, command)
        return
    method, params = command.get("call") or command["notify"], command["params"]
    try:
        if method.startswith("_"):
            send = agent.ext_method if "call" in command else agent.ext_notification
            result = await send(method[1:], params)
        elif method == "session/set_config_option":
            model: Any = OPTION_REQUESTS[params.get("type") == "boolean"].model_validate(params)
            result = await agent.set_config_option(
                config_id=model.config_id, session_id=model.session_id, value=model.value
            )
        else:
            if method not in CALLS:
                raise RuntimeError(f"the client has no {method}")
            request, name = CALLS[method]
            model = getattr(client.models, request.__name__).model_validate(params)
            arguments = {field: getattr(model, field) for field in model.model_fields_set if field != "field_meta"}
            result = await getattr(agent, name)(**arguments)
        if method == "session/cancel":
            client.cancelled.set()
        client.emit({"id": command["id"], "result": to_json(result)})
    except RequestError as error:
        client.emit({"id": command["id"], "error": {"code": error.code, "message": str(error), "data": error.data}})
    except (OSError, RuntimeError, ValidationError) as error:  # the transport's, or of this client
        client.emit({"id": command["id"], "error": {"code": None, "message": str(error).splitlines()[0]}})


def cancel_call(client: ScriptedClient, command: dict[str, Any]) -> None:
    if not IS_NEXT:
        client.emit({"id": command["id"], "error": {"code": None, "message": "the client can't cancel a call"}})
        return
    id, task = client.calls[command["cancel_call"]]
    task.cancel()
    client.emit({"id": id, "error": {"code": -32800, "message": "cancelled"}})
    client.emit({"id": command["id"], "result": None})


def to_json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    return value


async def read_stdin() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def serve(
    client: ScriptedClient, target: list[str] | str, commands: asyncio.Queue[dict[str, Any] | None]
) -> None:
    """Connect to an agent, and execute the commands for the connection until one is None."""
    async with open_remote(client, target) if isinstance(target, str) else start(client, target) as (agent, process):
        tasks: list[asyncio.Task[None]] = []
        while (command := await commands.get()) is not None:
            tasks.append(asyncio.create_task(execute(agent, client, command)))
            client.calls[command.get("call", "")] = command["id"], tasks[-1]
        for task in tasks:
            task.cancel()  # calls that were never answered
    client.emit({"exit": process and process.returncode})


@asynccontextmanager
async def start(client: ScriptedClient, command: list[str]) -> AsyncIterator[tuple[Any, Any]]:
    async with spawn_stdio_transport(*command, stderr=None) as (reader, writer, process):
        agent = connect(client, writer, reader)
        yield agent, process
        await agent.close()


@asynccontextmanager
async def open_remote(client: ScriptedClient, url: str) -> AsyncIterator[tuple[Any, None]]:
    transport = await open_transport(url)
    agent = connect(client, transport)
    yield agent, None
    await asyncio.wait([asyncio.create_task(agent.close()), asyncio.create_task(transport.close())])


def connect(client: ScriptedClient, *streams: Any) -> Any:
    if client.version == "1":
        return acp.connect_to_agent(client, *streams, use_unstable_protocol=True)
    from acp.experimental import v2  # imported here because 0.12.1 doesn't have it, and it takes a second

    client.models = v2.schema
    return v2.connect_to_agent(client, *streams)


async def open_transport(url: str) -> Any:
    from acp.http import create_http_stream  # imported here because only remote transports need the extra
    from acp.ws import create_websocket_stream

    return create_http_stream(url) if url.startswith("http") else await create_websocket_stream(url)


async def main() -> None:
    queues: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
    async with asyncio.TaskGroup() as connections:
        async for line in await read_stdin():
            command = json.loads(line)
            connection = command.pop("connection")
            if "connect" in command:
                queues[connection] = asyncio.Queue()
                client = ScriptedClient(connection, command["version"])
                connections.create_task(serve(client, command["connect"], queues[connection]))
            else:
                queues[connection].put_nowait(None if "close" in command else command)


if __name__ == "__main__":
    asyncio.run(main())
