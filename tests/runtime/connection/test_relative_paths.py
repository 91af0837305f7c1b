"""Rule 28: paths are absolute, in each place of a message, when they are sent and when they arrive."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest

from acp_bindings import v1, v2_draft
from acp_runtime import RelativePath
from tests.runtime.connection.sending import Send, messages_of, sending_update
from tests.support.runtime.any_profile import agent_of, client_of, opening
from tests.support.runtime.peer import Link, calling, serving


@pytest.mark.parametrize("path", ["relative", "./x", "", "~", "C:x", "file:///x"])
async def test_rule_28_a_relative_path_raises_and_sends_nothing(link: Link, path: str) -> None:
    async with calling(link) as (agent, peer):
        with pytest.raises(RelativePath, match="cwd"):
            await agent.session_new(cwd=path, mcp_servers=[])
        assert await peer.until_quiet() == []

    def read(client: Any) -> Any:
        return client.fs_read_text_file(session_id="s", path=path)

    with pytest.raises(RelativePath):
        await messages_of(link, read, {"fs": {"readTextFile": True}})


@pytest.mark.parametrize("path", ["/", "/a b", "C:\\x", "c:/x", "\\\\server\\share"])
async def test_rule_28_absolute_paths_of_posix_and_windows_are_sent(link: Link, path: str) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.session_new(cwd=path, mcp_servers=[]))
        request = await peer.receive()
        assert request["params"]["cwd"] == path
        await peer.send({"id": request["id"], "result": {"sessionId": "s"}})
        await call


async def test_rule_28_an_incoming_relative_cwd_is_invalid_params(link: Link) -> None:
    async with serving(link) as peer:
        error = (await peer.call("session/new", {"cwd": "relative", "mcpServers": []}))["error"]
        assert error["code"] == -32602
        assert error["data"]["errors"][0]["path"] == "cwd"


LOCATIONS = [v1.ToolCallLocation(path="/x"), v1.ToolCallLocation(path="relative")]
LOCATIONS_V2 = [v2_draft.ToolCallLocation(path="relative")]


def ask_about(tool_call: v1.ToolCallUpdate) -> Send:
    return lambda client: client.session_request_permission(session_id="s1", tool_call=tool_call, options=[])


def ask_about_command(client: Any) -> Any:
    return client.session_request_permission(
        session_id="s1",
        title="t",
        subject=v2_draft.RequestPermissionSubjectCommand(command="x", cwd="relative"),
        options=[v2_draft.PermissionOption(option_id="o", name="n", kind="allow_once")],
    )


def change_file(change: Any) -> Send:
    diff = v2_draft.ToolCallContentDiff(changes=[change])
    return sending_update(v2_draft.SessionUpdateToolCallUpdate(tool_call_id="t", content=[diff]))


# What sends a relative path, and the place of that.
NESTED: dict[str, tuple[Any, Send, str]] = {
    "a location": (
        v1,
        sending_update(v1.SessionUpdateToolCall(tool_call_id="t", title="x", locations=LOCATIONS)),
        "update.tool_call.locations.path",
    ),
    "a diff": (
        v1,
        sending_update(
            v1.SessionUpdateToolCallUpdate(
                tool_call_id="t", content=[v1.ToolCallContentDiff(path="relative", new_text="")]
            )
        ),
        "update.tool_call_update.content.diff.path",
    ),
    "the tool call of a permission": (
        v1,
        ask_about(v1.ToolCallUpdate(tool_call_id="t", locations=LOCATIONS)),
        "toolCall.locations.path",
    ),
    "an update of a tool call, as the tool call of a permission": (
        v1,
        ask_about(v1.SessionUpdateToolCallUpdate(tool_call_id="t", locations=LOCATIONS)),
        "toolCall.locations.path",
    ),
    "a location in version 2": (
        v2_draft,
        sending_update(v2_draft.SessionUpdateToolCallUpdate(tool_call_id="t", locations=LOCATIONS_V2)),
        "update.tool_call_update.locations.path",
    ),
    "a terminal in version 2": (
        v2_draft,
        sending_update(v2_draft.SessionUpdateTerminalUpdate(terminal_id="t", cwd="relative")),
        "update.terminal_update.cwd",
    ),
    "a changed file in version 2": (
        v2_draft,
        change_file(v2_draft.DiffChangeAdd(path="relative")),
        "update.tool_call_update.content.diff.changes.add.path",
    ),
    "the old name of a file in version 2": (
        v2_draft,
        change_file(v2_draft.DiffChangeMove(old_path="relative", path="/x")),
        "update.tool_call_update.content.diff.changes.move.oldPath",
    ),
    "the command of a permission in version 2": (v2_draft, ask_about_command, "subject.command.cwd"),
}


@pytest.mark.parametrize(("profile", "send", "place"), NESTED.values(), ids=NESTED)
async def test_rule_28_a_relative_path_at_any_depth_raises_and_sends_nothing(
    link: Link, profile: Any, send: Send, place: str
) -> None:
    with pytest.raises(RelativePath, match=f"in '{place}', found 'relative'"):
        await messages_of(link, send, profile=profile)


@pytest.mark.parametrize("profile", ["v1", "v2_draft"])
async def test_rule_28_the_command_of_a_server_is_an_absolute_path(profile: str) -> None:
    acp = import_module(f"acp_bindings.{profile}")

    class Starting(agent_of(acp)):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            response = {"protocolVersion": acp.PROTOCOL_VERSION, "info": {"name": "a", "version": "1"}}
            response["capabilities"] = {"session": {"mcp": {"stdio": {}}}}
            return acp.InitializeResponse.model_validate(response)

    async with acp.connect_in_process(Starting, client_of(acp, [])) as agent:
        await agent.initialize(**opening(acp))
        await agent.session_new(cwd="/", mcp_servers=[acp.McpServerStdio(name="x", command="/x", args=[], env=[])])
        with pytest.raises(RelativePath, match=r"command', found 'npx'"):
            await agent.session_new(cwd="/", mcp_servers=[acp.McpServerStdio(name="x", command="npx", args=[], env=[])])


async def test_rule_28_a_relative_path_inside_of_received_params_is_logged_and_handled(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    server = {"name": "x", "command": "npx", "args": [], "env": []}
    async with serving(link) as peer:
        assert "result" in await peer.call("session/new", {"cwd": "/", "mcpServers": [server]})
    assert "mcpServers.command in session/new: Input should be an absolute path" in caplog.text


async def test_rule_28_a_relative_path_in_a_result_is_logged_and_returned(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link, capabilities={"sessionCapabilities": {"list": {}}}) as (agent, peer):
        call = asyncio.ensure_future(agent.session_list())
        result = {"sessions": [{"sessionId": "s", "cwd": "relative"}]}
        await peer.answer(result=result)
        assert (await call).sessions[0].cwd == "relative"
    assert "The peer broke the protocol with sessions.cwd in session/list" in caplog.text


async def test_rule_28_many_relative_paths_in_a_message_are_one_warning(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    locations = [{"path": "relative"}] * 1000
    update = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "locations": locations}
    async with calling(link) as (_, peer):
        await peer.send({"method": "session/update", "params": {"sessionId": "s", "update": update}})
        assert await peer.until_quiet() == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "The peer broke the protocol with update.tool_call.locations.path in session/update: "
        "Input should be an absolute path"
    ]
