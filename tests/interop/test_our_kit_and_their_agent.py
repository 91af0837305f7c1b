"""Agents written with the official SDKs use the files, terminals and permissions that acp_kit serves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import (
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    SessionState,
    TerminalHandlers,
    Terminals,
    Workspace,
    allow,
    reject,
)
from acp_kit.content import text
from tests.support.interop.contract import calls
from tests.support.interop.driver import Command
from tests.support.interop.sdks import command

pytestmark = pytest.mark.xdist_group("SDKs")

OPTIONS = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_always", "allow_once", "reject_once")]
TERMINAL = {"terminalId": "$terminal"}


def table(root: Path) -> list[tuple[str, dict[str, Any], Any]]:
    """Return what the agent calls, one after the other, and the result or the code and data of the error it gets."""
    text, path = "one\r\ntwo é\nthree\u2028", f"{root}/new/a.txt"
    greet = {"command": "/bin/sh", "args": ["-c", "pwd; echo $A >&2; printf 'aé'; exit 3"]}
    greeted = {"output": f"{root}\nhello\naé", "truncated": False, "exitStatus": {"exitCode": 3}}
    outside = {"roots": [str(root)]}
    return [
        ("fs/write_text_file", {"path": path, "content": text}, {}),
        ("fs/read_text_file", {"path": path}, {"content": text}),
        ("fs/read_text_file", {"path": path, "line": 2, "limit": 1}, {"content": "two é\n"}),
        ("fs/read_text_file", {"path": "/etc/passwd"}, (-32602, {"path": "/etc/passwd", **outside})),
        ("fs/write_text_file", {"path": f"{root}/../x", "content": ""}, (-32602, {"path": f"{root}/../x", **outside})),
        ("fs/read_text_file", {"path": f"{root}/missing"}, (-32002, {"path": f"{root}/missing"})),
        ("terminal/create", {**greet, "env": [{"name": "A", "value": "hello"}]}, ...),
        ("terminal/wait_for_exit", TERMINAL, {"exitCode": 3}),
        ("terminal/output", TERMINAL, greeted),
        ("terminal/release", TERMINAL, {}),
        ("terminal/output", TERMINAL, (-32002, ...)),
        ("terminal/create", {"command": "printf", "args": ["éé"], "outputByteLimit": 3}, ...),
        ("terminal/wait_for_exit", TERMINAL, {"exitCode": 0}),
        ("terminal/output", TERMINAL, {"output": "é", "truncated": True, "exitStatus": {"exitCode": 0}}),
        ("terminal/create", {"command": "sleep", "args": ["1000"]}, ...),
        ("terminal/kill", TERMINAL, {}),
        ("terminal/wait_for_exit", TERMINAL, {"signal": "SIGTERM"}),
        ("terminal/create", {"command": "pwd", "cwd": "/"}, (-32602, ...)),
        ("terminal/create", {"command": "no-such-command"}, (-32002, ...)),
    ]


class KitClient(FileHandlers, TerminalHandlers, PermissionHandlers, v1.Client):
    """Serves a folder, terminals in it, and permission to read.

    Attributes:
        root: the folder.
        asked: is set when the user is asked for permission.
        answer: the option that the user selects; None if the user never answers.
    """

    def __init__(self, agent: v1.RemoteAgent, root: Path, terminals: Terminals) -> None:
        self.agent = agent
        self.root = root
        self.workspace = Workspace(root)
        self.terminals = terminals
        self.permissions = PermissionPolicy(allow(kinds={"read"}, under=root), reject(kinds={"delete"}), ask=self._ask)
        self.asked = asyncio.Event()
        self.answer: str | None = None
        self._state = SessionState()

    async def run(self, *actions: dict[str, Any]) -> list[dict[str, Any]]:
        """Let the agent call methods of this client, and return the results and errors that it got."""
        self._state = SessionState()
        await self.agent.session_prompt(session_id="new", prompt=[text(json.dumps(actions))])
        results: list[dict[str, Any]] = json.loads(self._state.text)
        return results

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self._state.apply(notification.update)

    async def _ask(self, request: v1.RequestPermissionRequest) -> str | None:
        self.asked.set()
        if self.answer is None:
            await asyncio.Event().wait()
        return self.answer


@asynccontextmanager
async def with_kit(agent: Command, root: Path) -> AsyncIterator[KitClient]:
    async with (
        Terminals(root) as terminals,
        v1.spawn_agent(lambda agent: KitClient(agent, root, terminals), *agent) as remote,
    ):
        client = remote.handler
        assert isinstance(client, KitClient)
        capabilities = v1.ClientCapabilities(fs=client.workspace.capabilities(), terminal=True)
        await remote.initialize(protocol_version=1, client_capabilities=capabilities)
        await remote.session_new(cwd=str(root), mcp_servers=[])
        yield client


async def test_the_agent_uses_files_and_terminals_of_the_client(sdk: str, tmp_path: Path) -> None:
    steps = table(root := tmp_path.resolve())
    async with with_kit(command(sdk, "agent"), root) as client:
        results = await client.run(*(calls(method, **params) for method, params, _ in steps))
    for (method, params, expected), result in zip(steps, results, strict=True):
        match expected:
            case (code, data):
                assert result["error"]["code"] == code, (method, params)
                assert data is ... or result["error"]["data"] == data
            case _:
                assert expected in (..., result["result"]), (method, params)
    assert (root / "new/a.txt").read_bytes() == "one\r\ntwo é\nthree\u2028".encode()
    assert not (root.parent / "x").exists()


def asks(kind: str, path: str, title: str = "Do it") -> dict[str, Any]:
    tool = {"toolCallId": "1", "kind": kind, "title": title, "locations": [{"path": path}]}
    return calls("session/request_permission", toolCall=tool, options=OPTIONS)


async def test_rules_and_the_user_answer_the_agent(sdk: str, tmp_path: Path) -> None:
    async with with_kit(command(sdk, "agent"), tmp_path.resolve()) as client:

        async def chosen(*questions: dict[str, Any]) -> list[str]:
            return [each["result"]["outcome"].get("optionId", "cancelled") for each in await client.run(*questions)]

        inside = str(client.root / "a")
        client.answer = "reject_once"
        assert await chosen(asks("read", inside), asks("delete", inside)) == ["allow_once", "reject_once"]
        assert not client.asked.is_set()
        assert await chosen(asks("read", "/etc/passwd")) == ["reject_once"]
        assert client.asked.is_set()
        client.answer = "allow_always"
        edit = asks("edit", inside, "Edit a")
        # A rule rejects, so the agent must go on asking, and the client remembers what the user chose.
        assert await chosen(edit) == ["allow_once"]
        client.answer = None
        assert await chosen(edit) == ["allow_once"]

        client.asked.clear()
        turn = asyncio.create_task(chosen(asks("execute", inside)))
        await client.asked.wait()
        await client.agent.session_cancel(session_id="new")
        assert await turn == ["cancelled"]
