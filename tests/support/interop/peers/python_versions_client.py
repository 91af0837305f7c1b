"""A client of one version of the protocol, written with the Python SDK (1.0.0rc3). It prints what it received.

Arguments: the version, and the command that starts the agent.
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

INFO = {"name": "python", "version": "1"}
VERSION, *COMMAND = sys.argv[1:]
MODELS: Any = schema if VERSION == "1" else v2.schema


class Client:
    def __init__(self) -> None:
        self.texts: list[str] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.texts.append(update.content.text)

    async def request_permission(self, **_: Any) -> Any:
        answer = {"outcome": {"outcome": "selected", "optionId": "yes"}}
        return MODELS.RequestPermissionResponse.model_validate(answer)


async def talk(agent: Any, client: Client) -> dict[str, Any]:
    info = MODELS.Implementation.model_validate(INFO)
    given = {"client_info": info} if VERSION == "1" else {"info": info, "capabilities": MODELS.ClientCapabilities()}
    try:
        initialized = await agent.initialize(protocol_version=int(VERSION), **given)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        text = schema.TextContentBlock if VERSION == "1" else v2.schema.TextContentBlock
        prompt = [text(type="text", text="hello")]
        answer = await agent.prompt(session_id=session.session_id, prompt=prompt)
    except (RequestError, ValueError) as error:  # its models' error, if the answer is of another version
        return {"error": {"code": getattr(error, "code", None), "message": str(error)}}
    return {"initialized": plain(initialized), "answer": plain(answer), "texts": client.texts}


def plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


async def main() -> None:
    client = Client()
    async with spawn_stdio_transport(*COMMAND, stderr=None) as (reader, writer, _):
        connect: Any = acp.connect_to_agent if VERSION == "1" else v2.connect_to_agent
        agent = connect(client, writer, reader)
        print(json.dumps(await talk(agent, client)))
        await agent.close()


if __name__ == "__main__":
    asyncio.run(main())
