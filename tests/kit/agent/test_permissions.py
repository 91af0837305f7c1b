"""Permission is asked for once, remembered for the tool and the session, and never guessed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from acp_bindings.v1 import (
    PermissionOption,
    RemoteAgent,
    RequestPermissionRequest,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from acp_kit.agent import Decision, PermissionMemory, Rejected, ToolCall, Turn, ask
from acp_kit.client import PermissionHandlers, PermissionPolicy
from tests.support.kit.turns import Act, Conversation, KeepingClient, conversation


def asking(tool: str | None = None, title: str = "Read notes.txt", results: list[bool] | None = None) -> Act:
    async def act(turn: Turn) -> None:
        async with turn.tool_call(title, kind="read", tool=tool) as call:
            await call.ask()
            call.output("done")
        if results is not None:
            results.append(not call.rejected)

    return act


async def decision(turn: Turn, tool: str | None) -> Decision:
    call, memory = ToolCallUpdate(tool_call_id="read", title="Read"), turn.session.permissions
    return await ask(turn.session.client, turn.session.id, call, tool=tool, memory=memory)


def statuses(talk: Conversation) -> list[str]:
    return [update.status for update in talk.updates]


async def test_the_user_sees_the_tool_call_and_four_options() -> None:
    async with conversation() as talk:
        await talk.prompt(asking(tool="read"), "allow_once")
        (asked,) = talk.client.asked
        assert (asked.tool_call.title, asked.tool_call.kind, asked.tool_call.status) == (
            "Read notes.txt",
            "read",
            "pending",
        )
        assert asked.tool_call.tool_call_id == talk.updates[0].tool_call_id
        kinds = [option.kind for option in asked.options]
        assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]


async def test_an_allowed_tool_runs_and_a_rejected_one_ends_failed() -> None:
    results: list[bool] = []
    async with conversation() as talk:
        assert await talk.prompt(asking(results=results), "allow_once") == "end_turn"
        assert await talk.prompt(asking(results=results), "reject_once") == "end_turn"
        assert results == [True, False]
        assert statuses(talk) == ["in_progress", "in_progress", "completed", "in_progress", "failed"]
        assert talk.updates[-1].content[0].content.text == "Rejected by the user"


async def test_a_tool_call_without_a_block_knows_that_the_user_rejected_it() -> None:
    calls: list[ToolCall] = []

    async def act(turn: Turn) -> None:
        calls.append(await turn.tool_call("Search").start())
        with suppress(Rejected):
            await calls[-1].ask()
        await calls[-1].end("Not done.", failed=calls[-1].rejected)

    async with conversation() as talk:
        assert await talk.prompt(act, "allow_once") == "end_turn"
        assert await talk.prompt(act, "reject_once") == "end_turn"
        assert [call.rejected for call in calls] == [False, True]


@pytest.mark.parametrize(("choice", "allowed"), [("allow_always", True), ("reject_always", False)])
async def test_always_applies_to_the_tool_in_the_session(choice: str, allowed: bool) -> None:
    results: list[bool] = []
    async with conversation() as talk:
        await talk.prompt(asking("read", "Read a", results), choice)
        await talk.prompt(asking("read", "Read b", results))
        assert results == [allowed, allowed]
        assert len(talk.client.asked) == 1


async def test_always_does_not_apply_to_anything_else() -> None:
    async def forget(turn: Turn) -> None:
        turn.session.permissions.forget("read")

    async with conversation() as talk:
        await talk.prompt(asking("once"), "allow_once")
        await talk.prompt(asking("once"), "reject_once")
        await talk.prompt(asking("read"), "allow_always")
        await talk.prompt(asking("write"), "allow_once")
        await talk.prompt(asking(title="Read a"), "allow_always")
        await talk.prompt(asking(title="Read b"), "allow_once")
        await talk.prompt(asking(title="Read a"))
        assert len(talk.client.asked) == 6
        await talk.prompt(forget)
        await talk.prompt(asking("read"), "allow_always")
        talk.session_id = (await talk.agent.session_new(cwd="/work", mcp_servers=[])).session_id
        await talk.prompt(asking("read"), "allow_once")
        assert len(talk.client.asked) == 8


async def test_a_question_without_a_tool_call_is_remembered_until_all_is_forgotten() -> None:
    decisions: list[Decision] = []

    async def act(turn: Turn) -> None:
        decisions.append(await decision(turn, "read"))

    async def forget(turn: Turn) -> None:
        turn.session.permissions.forget()

    async with conversation() as talk:
        await talk.prompt(act, "allow_always")
        await talk.prompt(act)
        await talk.prompt(forget)
        await talk.prompt(act, "reject_once")
    assert decisions == [Decision(True, "allow_always"), Decision(True, None), Decision(False, "reject_once")]


def test_one_decision_can_be_forgotten() -> None:
    memory = PermissionMemory()
    for tool in ("read", "write"):
        memory.remember(tool, allowed=True)
    memory.forget("read")
    assert memory == {"write": True}


async def test_always_answers_parallel_questions_about_the_tool() -> None:
    decisions: list[Decision] = []
    results: list[bool] = []

    async def act(turn: Turn) -> None:
        decisions[:] = await asyncio.gather(decision(turn, "read"), decision(turn, "read"))

    async def call(turn: Turn) -> None:
        await asyncio.gather(asking("write", "Write a", results)(turn), asking("write", "Write b", results)(turn))

    async with conversation() as talk:
        await talk.prompt(act, "allow_always")
        await talk.prompt(call, "reject_always")
    assert decisions == [Decision(True, "allow_always"), Decision(True, None)]
    assert results == [False, False]


class UserOfTwoDialogs(KeepingClient):
    """Answers when two dialogs are open."""

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.both = asyncio.Barrier(2)

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        await self.both.wait()
        return await super().session_request_permission(request)


@pytest.mark.parametrize("tools", [(None, None), ("read", "write")])
async def test_questions_about_no_tool_or_different_tools_are_shown_at_once(tools: tuple[str | None, ...]) -> None:
    async def act(turn: Turn) -> None:
        await asyncio.gather(*(decision(turn, tool) for tool in tools))

    async with conversation(UserOfTwoDialogs) as talk:
        assert await talk.prompt(act, "allow_once", "allow_once") == "end_turn"


async def test_always_about_no_tool_is_not_remembered() -> None:
    remembered: list[dict[Any, bool]] = []

    async def act(turn: Turn) -> None:
        assert await decision(turn, None) == Decision(True, "allow_always")
        remembered.append(dict(turn.session.permissions))

    async with conversation() as talk:
        await talk.prompt(act, "allow_always")
    assert remembered == [{}]


async def test_an_option_that_was_not_offered_allows_nothing() -> None:
    results: list[bool] = []
    async with conversation() as talk:
        await talk.prompt(asking(results=results), "yes_really")
        assert results == [False]


async def test_own_options_are_offered_and_the_choice_returned() -> None:
    chosen: list[str | None] = []
    options = [
        PermissionOption(option_id="folder", name="Allow in this folder", kind="allow_always"),
        PermissionOption(option_id="no", name="No", kind="reject_once"),
    ]

    async def act(turn: Turn) -> None:
        async with turn.tool_call("Write", tool="write") as call:
            chosen.append(await call.ask(options))
        async with turn.tool_call("Write", tool="write") as call:
            chosen.append(await call.ask(options))

    async with conversation() as talk:
        await talk.prompt(act, "folder")
        assert chosen == ["folder", None]
        assert [option.option_id for option in talk.client.asked[0].options] == ["folder", "no"]


async def test_a_cancelled_dialog_is_not_a_rejection() -> None:
    results: list[bool] = []
    async with conversation() as talk:
        assert await talk.prompt(asking(results=results), None) == "cancelled"
        assert results == []
        assert talk.updates[-1].content[0].content.text == "Cancelled"
        await talk.prompt(asking(results=results), "allow_once")
        assert results == [True]


class SlowUser(PermissionHandlers, KeepingClient):
    """Keeps a dialog open."""

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.permissions = PermissionPolicy(ask=self.dialog)
        self.opened = asyncio.Event()
        self.closed = asyncio.Event()

    async def dialog(self, request: RequestPermissionRequest) -> str:
        self.opened.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.closed.set()
        raise AssertionError


async def test_a_turn_cancelled_while_the_dialog_is_open_closes_it_and_ends() -> None:
    async with conversation(SlowUser) as talk:
        assert isinstance(talk.client, SlowUser)
        prompt = asyncio.create_task(talk.prompt(asking()))
        await talk.client.opened.wait()
        await talk.agent.session_cancel(session_id=talk.session_id)
        assert await prompt == "cancelled"
        await talk.client.closed.wait()
        assert statuses(talk) == ["in_progress", "failed"]


async def test_always_can_hold_for_one_exact_command_or_for_nothing() -> None:
    def running(command: str, remember: str | bool) -> Act:
        async def act(turn: Turn) -> None:
            async with turn.tool_call(f"Run {command}", tool="run") as call:
                await call.ask(remember=remember)

        return act

    async with conversation() as talk:
        await talk.prompt(running("ls", "run ls"), "allow_always")
        await talk.prompt(running("ls", "run ls"))
        await talk.prompt(running("rm", "run rm"), "allow_always")
        await talk.prompt(running("rm", False), "allow_always")
        await talk.prompt(running("rm", False), "allow_always")
        assert len(talk.client.asked) == 4
        assert {asked.tool_call.name for asked in talk.client.asked} == {"run"}


async def test_what_the_user_decided_can_be_listed() -> None:
    decided: list[dict[str, bool]] = []

    async def act(turn: Turn) -> None:
        decided.append(dict(turn.session.permissions.items()))

    async with conversation() as talk:
        await talk.prompt(asking("read"), "allow_always")
        await talk.prompt(asking("write"), "reject_always")
        await talk.prompt(act)
        assert decided == [{"read": True, "write": False}]
