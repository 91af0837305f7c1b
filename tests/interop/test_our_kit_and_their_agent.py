"""Agents written with the official SDKs use the files and terminals that acp_kit serves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import (
    FileHandlers,
    TerminalHandlers,
    Terminals,
    UpdateHandlers,
    Workspace,
    client_capabilities,
    open_session,
)
from tests.interop.contract import calls
from tests.interop.sdks import command

pytestmark = pytest.mark.xdist_group("SDKs")

TERMINAL = {"terminalId": "$terminal"}


def table(root: Path) -> list[tuple[str, dict[str, Any], Any]]:
    """Return the agent's calls, one after the other, and the result or the code and data of the error it gets."""
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


class KitClient(UpdateHandlers, FileHandlers, TerminalHandlers, v1.Client):
    """Serves a folder, and terminals in it."""

    def __init__(self, agent: v1.RemoteAgent, root: Path, terminals: Terminals) -> None:
        self.agent = agent
        self.workspace = Workspace(root)
        self.terminals = terminals

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        raise NotImplementedError


async def test_the_agent_uses_files_and_terminals_of_the_client(sdk: str, tmp_path: Path) -> None:
    steps = table(root := tmp_path.resolve())
    async with (
        Terminals(root) as terminals,
        v1.spawn_agent(lambda agent: KitClient(agent, root, terminals), *command(sdk, "agent")) as agent,
    ):
        await agent.initialize(protocol_version=1, client_capabilities=client_capabilities(agent.handler))
        async with open_session(agent, cwd=root) as session:
            answer = await session.ask(json.dumps([calls(method, **params) for method, params, _ in steps]))
    for (method, params, expected), result in zip(steps, json.loads(answer), strict=True):
        match expected:
            case (code, data):
                assert result["error"]["code"] == code, (method, params)
                assert data is ... or result["error"]["data"] == data
            case _:
                assert expected in (..., result["result"]), (method, params)
    assert (root / "new/a.txt").read_bytes() == "one\r\ntwo é\nthree\u2028".encode()
    assert not (root.parent / "x").exists()
