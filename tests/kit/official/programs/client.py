"""A client for the official SDK: `client.py ours|official ours|official CASE`. Prints what the user sees, as JSON."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from acp import Client, RequestError, text_block
from acp.schema import AllowedOutcome, ReadTextFileResponse, RequestPermissionResponse

connecting = import_module({"ours": "acp_kit.official", "official": "acp"}[sys.argv[1]])
AGENT = [sys.executable, str(Path(__file__).with_name("agent.py")), sys.argv[2]]
logging.disable()


class TestClient(Client):
    """Records what it receives."""

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    def __init__(self) -> None:
        self.updates: list[str] = []
        self.session = ""
        self.early: list[bool] = []
        self.log: list[str] = []
        self.answers = asyncio.Event()
        self.answers.set()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        text = update.content.text
        if text == "early":
            self.early.append(not self.session)
            return
        for _ in range(10 if text == "0" else 0):
            await log(self.agent)  # the others arrive meanwhile
        self.updates.append(text)

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        await self.answers.wait()
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="yes"))

    async def read_text_file(self, path: str, limit: int | None = None, **_: Any) -> ReadTextFileResponse:
        return ReadTextFileResponse(content=f"{path} {limit}")

    async def write_text_file(self, content: str, **_: Any) -> None:
        raise RequestError(-32099, f"read-only: {content}", {"path": [1]})

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.log.append(f"{method} {params}")


async def order(client: TestClient, agent: Any) -> Any:
    await prompt(agent, "count 5")
    return client.updates


async def early(client: TestClient, agent: Any) -> Any:
    await prompt(agent, "count 1")
    return client.early


async def stderr(client: TestClient, agent: Any) -> Any:
    try:
        answer = await asyncio.wait_for(prompt(agent, "complain 1000000"), 3)
    except TimeoutError:
        return "hangs"
    return answer.stop_reason


async def abandoned(client: TestClient, agent: Any) -> Any:
    task = asyncio.create_task(prompt(agent, "wait"))
    while "waiting" not in await log(agent):
        pass
    task.cancel()
    await asyncio.wait({task})
    return await log(agent)


async def permission(client: TestClient, agent: Any) -> Any:
    client.answers.clear()
    task = asyncio.create_task(prompt(agent, "ask"))
    while "asked" not in await log(agent):
        pass
    await agent.cancel(session_id="s")
    lines = await log(agent)
    client.answers.set()
    await task
    return lines


async def exit(client: TestClient, agent: Any) -> Any:
    try:
        await prompt(agent, "die")
    except ConnectionError as error:
        return str(error)
    return None


async def child(client: TestClient, agent: Any) -> Any:
    with socket.create_server(("127.0.0.1", 0)) as server:
        await prompt(agent, f"start {server.getsockname()[1]}")
        server.settimeout(30)
        return await asyncio.to_thread(server.accept)


async def everything(client: TestClient, agent: Any) -> Any:
    answer = await agent.prompt(session_id="s", prompt=[text_block("count 3")], note={"deep": [1]})
    await prompt(agent, "ask")
    await prompt(agent, "read /tmp/x")
    await agent.ext_notification("done", {"n": 1})
    try:
        await agent.load_session(cwd="/", session_id="other")
    except RequestError as error:
        failed = [error.code, str(error), error.data]
    lines = await agent.ext_method("log", {"a": None})
    return [answer.model_dump(mode="json"), sorted(client.updates), client.log, failed, lines]


async def prompt(agent: Any, text: str) -> Any:
    return await agent.prompt(session_id="s", prompt=[text_block(text)])


async def log(agent: Any) -> list[str]:
    return (await agent.ext_method("log", {}))["log"]


async def main() -> None:
    client = TestClient()
    # An agent that is terminated while it exits would have another exit code.
    options = {"shutdown_timeout": 60} if sys.argv[3] == "everything" else {}
    async with connecting.spawn_agent_process(client, *AGENT, transport_kwargs=options) as (agent, process):
        opened = await agent.initialize(protocol_version=1)
        session = await agent.new_session(cwd="/", trace="t")
        client.session = session.session_id
        shown = await globals()[sys.argv[3]](client, agent)
    if sys.argv[3] == "child":
        shown = ended(shown[0])
    if sys.argv[3] == "everything":
        shown += [opened.model_dump(mode="json"), session.model_dump(mode="json"), process.returncode]
    sys.stdout.write(json.dumps(shown))


def ended(connection: socket.socket) -> str:
    """Say whether the child has ended. If it hasn't, it ends now."""
    with connection:
        connection.settimeout(2)
        try:
            connection.recv(1)
        except TimeoutError:
            return "lives on"
        except ConnectionError:
            pass
        return "ended"


asyncio.run(main())
