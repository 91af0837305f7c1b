"""Agents written with the official SDKs use the files, terminals and permissions that acp_kit serves."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from tests.support.interop.kit_client import with_kit
from tests.support.interop.their_client import Command
from tests.support.marked_processes import alive, marked

pytestmark = pytest.mark.xdist_group("their agents")

OPTIONS = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_always", "allow_once", "reject_once")]


async def test_the_agent_writes_and_reads_files_of_the_workspace(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        path = str(client.root / "new" / "notes.txt")
        results = await client.run(
            ("fs/write_text_file", {"path": path, "content": "one\r\ntwo é\nthree\u2028"}),
            ("fs/read_text_file", {"path": path}),
            ("fs/read_text_file", {"path": path, "line": 2, "limit": 1}),
            ("fs/read_text_file", {"path": path, "line": 9}),
        )
        assert (client.root / "new" / "notes.txt").read_bytes() == "one\r\ntwo é\nthree\u2028".encode()
    assert [each["result"].get("content") for each in results] == [None, "one\r\ntwo é\nthree\u2028", "two é\n", ""]


async def test_the_agent_gets_an_error_for_files_outside_and_missing_ones(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        outside, missing = f"{client.root}/../outside.txt", f"{client.root}/missing.txt"
        results = await client.run(
            ("fs/read_text_file", {"path": "/etc/passwd"}),
            ("fs/write_text_file", {"path": outside, "content": ""}),
            ("fs/read_text_file", {"path": missing}),
        )
        assert not (client.root.parent / "outside.txt").exists()
        roots = [str(client.root)]
    assert [(each["error"]["code"], each["error"]["data"]) for each in results] == [
        (-32602, {"path": "/etc/passwd", "roots": roots}),
        (-32602, {"path": outside, "roots": roots}),
        (-32002, {"path": missing}),
    ]


async def test_the_agent_runs_a_command_to_its_end(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        script = "pwd; echo $GREETING >&2; printf 'aé'; exit 3"
        create = {"command": "/bin/sh", "args": ["-c", script], "env": [{"name": "GREETING", "value": "hello"}]}
        results = await client.run(
            ("terminal/create", create),
            ("terminal/wait_for_exit", {"terminalId": "$terminal"}),
            ("terminal/output", {"terminalId": "$terminal"}),
            ("terminal/release", {"terminalId": "$terminal"}),
            ("terminal/output", {"terminalId": "$terminal"}),
        )
        root = client.root
    assert results[1]["result"] == {"exitCode": 3}
    output = {"output": f"{root}\nhello\naé", "truncated": False, "exitStatus": {"exitCode": 3}}
    assert results[2]["result"] == output
    assert results[3]["result"] == {}
    assert results[4]["error"]["code"] == -32002


async def test_the_agent_limits_the_output_of_a_command(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        results = await client.run(
            ("terminal/create", {"command": "printf", "args": ["éé"], "outputByteLimit": 3}),
            ("terminal/wait_for_exit", {"terminalId": "$terminal"}),
            ("terminal/output", {"terminalId": "$terminal"}),
        )
    assert results[2]["result"] == {"output": "é", "truncated": True, "exitStatus": {"exitCode": 0}}


async def test_the_agent_kills_a_command(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        results = await client.run(
            ("terminal/create", {"command": "sleep", "args": ["1000"]}),
            ("terminal/kill", {"terminalId": "$terminal"}),
            ("terminal/wait_for_exit", {"terminalId": "$terminal"}),
            ("terminal/release", {"terminalId": "$terminal"}),
        )
    assert [each["result"] for each in results[1:]] == [{}, {"signal": "SIGTERM"}, {}]


async def test_the_agent_gets_an_error_for_a_command_that_can_not_be_started(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        results = await client.run(
            ("terminal/create", {"command": "pwd", "cwd": "/"}), ("terminal/create", {"command": "no-such-command"})
        )
    assert [each["error"]["code"] for each in results] == [-32602, -32002]


def _permission(kind: str, path: str, **more: Any) -> tuple[str, dict[str, Any]]:
    call = {"toolCallId": "1", "kind": kind, "title": "Do it", "locations": [{"path": path}], **more}
    return "session/request_permission", {"toolCall": call, "options": OPTIONS}


def _chosen(results: list[dict[str, Any]]) -> list[str]:
    return [each["result"]["outcome"].get("optionId", "cancelled") for each in results]


async def test_rules_and_the_user_answer_permission_requests(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        inside = str(client.root / "a")
        client.answer = "reject_once"
        assert _chosen(await client.run(_permission("read", inside), _permission("delete", inside))) == [
            "allow_once",
            "reject_once",
        ]
        assert not client.asked.is_set()
        assert _chosen(await client.run(_permission("read", "/etc/passwd"))) == ["reject_once"]
        assert client.asked.is_set()
        client.answer = "allow_always"
        edit = _permission("edit", inside, title="Edit a")
        # A rule rejects, so the agent must go on asking, and the client remembers what the user chose.
        assert _chosen(await client.run(edit)) == ["allow_once"]
        client.answer = "reject_once"
        assert _chosen(await client.run(edit)) == ["allow_once"]


async def test_cancelling_the_turn_cancels_an_open_question(their_tool_agent: Command) -> None:
    async with with_kit(their_tool_agent) as client:
        running = asyncio.create_task(client.run(_permission("execute", str(client.root))))
        await client.asked.wait()
        await client.agent.session_cancel(session_id="new")
        assert _chosen(await running) == ["cancelled"]
        client.answer = "allow_once"
        assert _chosen(await client.run(_permission("execute", str(client.root)))) == ["allow_once"]


@pytest.mark.skipif(sys.platform != "linux", reason="descendants are found in /proc")
async def test_what_the_agent_leaves_running_ends_with_its_session(their_tool_agent: Command) -> None:
    with marked() as marker:
        async with with_kit(their_tool_agent) as client:
            env = [{"name": marker, "value": "1"}]
            await client.run(
                ("terminal/create", {"command": "/bin/sh", "args": ["-c", "sleep 1000 &"], "env": env}),
                ("terminal/wait_for_exit", {"terminalId": "$terminal"}),
            )
            while not alive(marker):  # for a moment, a process that starts a program has no environment
                await asyncio.sleep(0)
            await client.terminals.release_session("new")
            assert not alive(marker)
