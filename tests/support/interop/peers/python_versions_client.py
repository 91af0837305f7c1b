"""Clients of one version of the protocol, written with the Python SDK (1.0.0rc3). It prints what they received.

Argument: a JSON list, for each client, with its version and the command or URL of its agent.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import acp
from acp import schema
from acp.exceptions import RequestError
from acp.experimental import v2
from acp.transports import spawn_stdio_transport
from python_client import remote_transport

INFO = {"name": "python", "version": "1"}


def models(version: str) -> Any:
    return schema if version == "1" else v2.schema


class Client:
    def __init__(self, version: str) -> None:
        self.models = models(version)
        self.texts: list[str] = []
        self.updated = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.texts.append(update.content.text)
        self.updated.set()

    async def request_permission(self, **_: Any) -> Any:
        answer = {"outcome": {"outcome": "selected", "optionId": "yes"}}
        return self.models.RequestPermissionResponse.model_validate(answer)


async def talk(agent: Any, client: Client, version: str) -> dict[str, Any]:
    info = client.models.Implementation.model_validate(INFO)
    if version == "1":
        given = {"client_info": info}
    else:
        given = {"info": info, "capabilities": client.models.ClientCapabilities()}
    try:
        initialized = await agent.initialize(protocol_version=int(version), **given)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        prompt = [client.models.TextContentBlock(type="text", text="hello")]
        answer = await agent.prompt(session_id=session.session_id, prompt=prompt)
        await client.updated.wait()  # in version 2, it comes after the answer
    # Its models' error, if the answer is of another version; its HTTP transport's, if there is no connection.
    except (RequestError, ValueError, RuntimeError) as error:
        return {"error": {"code": getattr(error, "code", None), "message": str(error)}}
    return {"initialized": plain(initialized), "answer": plain(answer), "texts": client.texts}


def plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


def connect(version: str, *streams: Any) -> tuple[Any, Client]:
    client = Client(version)
    to_agent: Any = acp.connect_to_agent if version == "1" else v2.connect_to_agent
    return to_agent(client, *streams), client


async def start(version: str, command: list[str]) -> Any:
    async with spawn_stdio_transport(*command, stderr=None) as (reader, writer, _):
        agent, client = connect(version, writer, reader)
        talked = await talk(agent, client, version)
        await agent.close()
    return talked


async def reach(version: str, url: str) -> Any:
    transport = await remote_transport(url)
    agent, client = connect(version, transport)
    talked = await talk(agent, client, version)
    await agent.close()
    await transport.close()
    return talked


async def main(clients: list[tuple[str, list[str] | str]]) -> None:
    talked = [await (reach if isinstance(to, str) else start)(version, to) for version, to in clients]
    print(json.dumps(talked))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
