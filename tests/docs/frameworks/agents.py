"""The agents of the guides to frameworks, used by a client. Run by test_frameworks.py where the frameworks are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_runtime import RemoteError
from tests.docs.frameworks.framework_pages import DEEP_AGENT, PROGRAMS, Talk, calls_and_results, texts

Run = Callable[..., None]
WRITE = ("write_file", {"path": "copy.txt", "content": "one\ntwo\n"})


@pytest.fixture(params=PROGRAMS)
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(scenario: Any, *answers: Any) -> None:
        PROGRAMS[request.param].run(scenario, *answers, folder=tmp_path, monkeypatch=monkeypatch)

    return run


def test_text_is_streamed_and_the_conversation_continues(run: Run) -> None:
    async def scenario(talk: Talk) -> None:
        talk.model.may_end.clear()
        async with talk.session.prompt("first") as turn:
            async for update in turn:
                if update.session_update == "agent_message_chunk":
                    talk.model.may_end.set()  # not before something has come
        assert turn.stop_reason == "end_turn"
        assert talk.session.state.text == "Hello there."
        assert await talk.prompt("second") == "end_turn"
        seen = texts(talk.model.requests[1]["messages"])
        assert seen[-3:] == ["first", "Hello there.", "second"]

    run(scenario, "Hello there.", "Welcome.")


def test_tools_run_and_the_user_permits_changes_of_files_first(run: Run) -> None:
    async def scenario(talk: Talk) -> None:
        talk.editor.choices = ["allow_once"]
        assert await talk.prompt("copy") == "end_turn"
        assert (talk.folder / "copy.txt").read_text("utf-8") == "one\ntwo\n"
        assert talk.session.state.text == "All done."
        read, missing, write = talk.session.state.tool_calls.values()
        assert [read.kind, missing.kind, write.kind] == ["read", "read", "edit"]
        assert [read.status, missing.status, write.status] == ["completed", "failed", "completed"]
        assert [place.path for place in write.locations or []] == [str(talk.folder / "copy.txt")]
        (request,) = talk.editor.asked
        asked = request.tool_call
        assert asked.tool_call_id == write.tool_call_id
        (diff,) = asked.content or []
        assert diff.type == "diff"
        assert (diff.old_text, diff.new_text) == (None, "one\ntwo\n")
        prompt_texts = texts(talk.model.requests[1]["messages"])
        assert "one\ntwo\n" in prompt_texts
        assert any("missing.txt' doesn't exist" in text for text in prompt_texts)

    run(scenario, [("read_file", {"path": "notes.txt"}), ("read_file", {"path": "missing.txt"})], [WRITE], "All done.")


def test_a_rejected_tool_does_not_run_and_the_model_sees_the_rejection(run: Run) -> None:
    async def scenario(talk: Talk) -> None:
        talk.editor.choices = ["reject_once"]
        assert await talk.prompt("copy") == "end_turn"
        assert not (talk.folder / "copy.txt").exists()
        assert talk.statuses == ["failed"]
        assert any("The user rejected this." in text for text in texts(talk.model.requests[1]["messages"]))

    run(scenario, [WRITE], "A pity.")


def test_the_conversation_continues_after_a_cancellation(run: Run) -> None:
    async def scenario(talk: Talk) -> None:
        assert await talk.cancel_at_the_first_word("slow") == "cancelled"
        assert await talk.prompt("go on") == "end_turn"
        seen = texts(talk.model.requests[-1]["messages"])
        assert seen.index("slow") < seen.index("go on")

    run(scenario, "Wait a minute.", "Where were we?")


def test_a_closed_dialog_ends_the_turn_and_leaves_no_tool_call_without_result(run: Run) -> None:
    async def scenario(talk: Talk) -> None:
        talk.editor.choices = [None]
        assert await talk.prompt("copy") == "cancelled"
        assert set(talk.statuses) == {"completed", "failed"}
        assert not (talk.folder / "copy.txt").exists()
        assert await talk.prompt("go on") == "end_turn"
        called, answered = calls_and_results(talk.model.requests[-1])
        assert called == answered
        assert len(called) == 3

    run(scenario, [("read_file", {"path": "notes.txt"}), WRITE, WRITE], "Where were we?")


def test_the_user_sees_an_error_of_the_api_and_the_conversation_continues(run: Run) -> None:
    async def scenario(talk: Talk) -> None:
        with pytest.raises(RemoteError, match="refused the API key"):
            await talk.prompt("first")
        with pytest.raises(RemoteError, match=r"The model did not answer: .*out of order"):
            await talk.prompt("second")
        with pytest.raises(RemoteError, match=r"The model did not answer: .*[Cc]onnection"):
            await talk.prompt("third")
        assert await talk.prompt("fourth") == "end_turn"
        seen = texts(talk.model.requests[-1]["messages"])
        assert [text for text in seen if text in {"first", "second", "third", "fourth"}] == [
            *("first", "second", "third", "fourth")
        ]

    run(scenario, 401, 500, 200, "Again.")


def test_a_deep_agent_plans_and_edits_with_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    todos = [{"content": "copy the notes", "status": "in_progress"}]
    write = ("write_file", {"file_path": "/copy.txt", "content": "one\n"})
    edit = ("edit_file", {"file_path": "/copy.txt", "old_string": "one", "new_string": "two"})

    async def scenario(talk: Talk) -> None:
        talk.editor.choices = ["allow_once", "reject_once"]
        assert await talk.prompt("copy") == "end_turn"
        assert (talk.folder / "copy.txt").read_text("utf-8") == "one\n"
        assert [entry.content for entry in talk.session.state.plan] == ["copy the notes"]
        assert talk.statuses == ["completed", "completed", "failed"]
        assert talk.editor.asked[0].tool_call.locations[0].path == str(talk.folder / "copy.txt")  # type: ignore[index]

    answers = [("write_todos", {"todos": todos})], [write], [edit], "All done."
    DEEP_AGENT.run(scenario, *answers, folder=tmp_path, monkeypatch=monkeypatch)
