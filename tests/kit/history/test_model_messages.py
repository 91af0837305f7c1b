"""A history becomes messages that the endpoints of language models accept."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from acp_bindings import v1, v1_unstable
from acp_kit.history import MemoryHistory, to_anthropic, to_openai
from tests.support.kit.histories import read
from tests.support.kit.model_rules import check_anthropic, check_openai, validate
from tests.support.kit.session_updates import parse, recorded_sessions, text_chunk, updates_of
from tests.support.scale import count

# The group shares the import of openai.
pytestmark = pytest.mark.xdist_group("packages")

IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"}


def in_json(block: Any) -> Any:
    return {"type": "text", "text": block} if isinstance(block, str) else block


def user(*blocks: Any) -> list[Any]:
    return [parse({"sessionUpdate": "user_message_chunk", "content": in_json(block)}) for block in blocks]


def agent(text: str) -> Any:
    return text_chunk(text)


def call(call_id: str = "1", status: Any = "completed", **fields: Any) -> Any:
    return v1.SessionUpdateToolCall(tool_call_id=call_id, title="A call", status=status, **fields)


def content(*blocks: Any) -> list[Any]:
    return parse(
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "1",
            "title": "",
            "content": [{"type": "content", "content": in_json(block)} for block in blocks],
        }
    ).content  # type: ignore[no-any-return]


async def history_of(updates: list[Any]) -> list[Any]:
    store = MemoryHistory()
    await store.create("s", cwd="/")
    await store.append("s", *updates)
    return await read(store)


def test_messages_and_tool_calls_become_a_conversation() -> None:
    given = {"path": "a.txt"}
    updates = [
        *user("What is in a.txt?"),
        agent("Let me look."),
        call("c1", name="read_file", raw_input=given, raw_output="one"),
        call("c2", name="read_file", raw_input=given, raw_output={"lines": 1}),
        agent("One line."),
        *user("Thanks"),
    ]
    assert to_openai(updates) == [
        {"role": "user", "content": "What is in a.txt?"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [openai_call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "assistant", "tool_calls": [openai_call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": '{"lines": 1}'},
        {"role": "assistant", "content": "One line."},
        {"role": "user", "content": "Thanks"},
    ]
    assert to_anthropic(updates) == [
        {"role": "user", "content": [text("What is in a.txt?")]},
        {
            "role": "assistant",
            "content": [text("Let me look."), {"type": "tool_use", "id": "c1", "name": "read_file", "input": given}],
        },
        {"role": "user", "content": [result("c1", "one")]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c2", "name": "read_file", "input": given}]},
        {"role": "user", "content": [result("c2", '{"lines": 1}')]},
        {"role": "assistant", "content": [text("One line.")]},
        {"role": "user", "content": [text("Thanks")]},
    ]


def openai_call(call_id: str) -> Any:
    return {"id": call_id, "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'}}


def text(value: str) -> Any:
    return {"type": "text", "text": value}


def result(call_id: str, value: str, **more: Any) -> Any:
    return {"type": "tool_result", "tool_use_id": call_id, "content": [text(value)], **more}


DIFF = v1.ToolCallContentDiff(path="/a", new_text="b")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "completed"}, "Done."),
        ({"status": "failed"}, "This failed."),
        ({"status": "in_progress"}, "This did not finish."),
        ({"status": "pending"}, "This did not finish."),
        ({"status": "in_progress", "raw_output": "half"}, "half\nThis did not finish."),
        ({"raw_output": ""}, "Done."),
        ({"raw_output": 0}, "0"),
        ({"content": content("one", "two", LINK)}, "one\ntwo\n[a.txt](file:///a.txt)"),
        ({"content": [DIFF]}, "Changed /a"),
        ({"content": [DIFF], "status": "failed"}, "This failed."),
        ({"content": [DIFF, *content("Rejected by the user")], "status": "failed"}, "Rejected by the user"),
        ({"content": [DIFF], "status": "pending"}, "This did not finish."),
        ({"content": content("shown"), "raw_output": "raw"}, "raw"),
        ({"content": content(IMAGE)}, "[image/png]"),
    ],
)
def test_every_tool_call_has_a_result(fields: Any, expected: str) -> None:
    assert to_openai([call(**fields)])[-1] == {"role": "tool", "tool_call_id": "1", "content": expected}


def test_a_tool_call_that_did_not_succeed_is_an_error_for_anthropic() -> None:
    updates = [*user("go"), call("1", "failed"), call("2", "in_progress"), call("3")]
    results = [message["content"][0] for message in to_anthropic(updates)[2::2]]
    assert [result.get("is_error", False) for result in results] == [True, True, False]


def test_images_go_where_the_endpoint_takes_them() -> None:
    updates = [*user("See", IMAGE, SOUND), call(content=content("shot", IMAGE))]
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    sent, _, answered = to_openai(updates)
    assert sent["content"] == [text("See"), url, text("[audio/wav]")]
    assert answered["content"] == "shot\n[image/png]"
    sent, _, answered = to_anthropic(updates)
    assert sent["content"] == [text("See"), image, text("[audio/wav]")]
    assert answered["content"][0]["content"] == [text("shot"), image]
    assert to_openai(updates, images=False)[0]["content"] == "See\n[image/png]\n[audio/wav]"
    assert "AAAA" not in json.dumps(to_anthropic(updates, images=False))


@pytest.mark.parametrize(
    ("change", "expected"), [({"mimeType": "image/tiff"}, "[image/tiff]"), ({"data": ""}, "[image/png]")]
)
def test_an_image_that_endpoints_refuse_is_named(change: Any, expected: str) -> None:
    assert to_openai(user({**IMAGE, **change}))[0]["content"] == expected


def test_half_characters_are_replaced_because_no_request_can_be_encoded_with_them() -> None:
    half = "a\ud83d"
    updates = [*user(half, {**LINK, "name": half}), agent(half), call(raw_input={half: [half]}, raw_output={"a": half})]
    for messages in (to_openai(updates), to_anthropic(updates)):
        assert b"a?" in json.dumps(messages, ensure_ascii=False).encode()


def test_halves_of_a_character_in_two_chunks_become_the_character() -> None:
    second = {"type": "text", "text": "\ude00", "annotations": {"priority": 1.0}}
    updates = [agent("\ud83d"), parse({"sessionUpdate": "agent_message_chunk", "content": second})]
    assert to_openai(updates) == [{"role": "assistant", "content": "\U0001f600"}]


def test_pieces_of_a_message_are_joined_and_messages_are_lines() -> None:
    note = {"type": "text", "text": "bye", "annotations": {"priority": 1.0}}
    thought = text_chunk("hmm", "agent_thought")
    noted = parse({"sessionUpdate": "agent_message_chunk", "content": note})
    updates = [*user("Go"), agent("Good"), noted, thought, agent("Again"), *user(" ")]
    assert to_openai(updates) == [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "Goodbye\nAgain"},
    ]


def test_the_users_message_after_a_tool_call_follows_its_result_for_anthropic() -> None:
    updates = [*user("go"), call("1", raw_output="one"), *user("Thanks")]
    assert to_anthropic(updates)[2:] == [{"role": "user", "content": [result("1", "one"), text("Thanks")]}]


def test_what_only_shows_is_left_out() -> None:
    updates = [
        text_chunk("thinking", "agent_thought"),
        v1.SessionUpdatePlan(entries=[]),
        v1.SessionUpdateSessionInfoUpdate(title="title"),
        v1.SessionUpdateCurrentModeUpdate(current_mode_id="ask"),
    ]
    assert to_openai(updates) == to_anthropic(updates) == []


def test_ids_and_names_that_endpoints_refuse_are_changed() -> None:
    updates = [
        call("call-1", name="files.read"),
        call("a/b", name="x" * 80),
        call("i" * 41, kind="execute"),
        call("ok", raw_input=[1]),
    ]
    calls = [message["tool_calls"][0] for message in to_openai(updates)[::2]]
    assert [call["id"] for call in calls] == ["call-1", "call-2", "call-3", "ok"]
    assert [call["function"]["name"] for call in calls] == ["files_read", "x" * 64, "execute", "other"]
    assert calls[-1]["function"]["arguments"] == '{"input": [1]}'
    check_openai(to_openai(updates))


def test_the_first_message_for_anthropic_is_the_users() -> None:
    assert to_anthropic([agent("Welcome")])[0]["role"] == "user"
    assert to_openai([agent("Welcome")])[0]["role"] == "assistant"


def test_the_messages_are_of_the_callers_own() -> None:
    update = call(raw_input={"a": {"b": [1]}})
    to_anthropic([update])[1]["content"][0]["input"]["a"]["b"].append(2)
    assert update.raw_input == {"a": {"b": [1]}}


@pytest.mark.parametrize("profile", [v1, v1_unstable])
@pytest.mark.stress
def test_the_messages_of_any_history_fulfil_the_rules_of_the_endpoints(profile: Any) -> None:
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    params: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])

    @settings(max_examples=count(60, 2000), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.lists(updates_of("v1"), max_size=12), st.booleans())
    def check(updates: list[Any], images: bool) -> None:
        history = asyncio.run(history_of([parse(update, profile) for update in updates]))
        messages = to_openai(history, images=images)
        check_openai(messages)
        validate(params, messages)
        check_anthropic(to_anthropic(history, images=images))

    check()


def test_the_messages_of_recorded_sessions_fulfil_the_rules() -> None:
    for _, updates in recorded_sessions():
        history = asyncio.run(history_of(updates))
        check_openai(to_openai(history))
        check_anthropic(to_anthropic(history))
