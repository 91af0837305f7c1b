"""A model that was built holds and is dumped like a parsed one."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import PydanticSerializationError

from acp_bindings.v1 import (
    ContentBlockText,
    Plan,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
    SessionUpdatePlan,
)
from acp_runtime.jsonrpc.encoding import dump
from tests.support.models.fresh_process import run_code

LINE = '{"sessionId":"s","update":{"entries":[],"sessionUpdate":"plan","new":1},"_meta":{"a":1},"other":2}'


def test_a_built_model_dumps_the_unknown_keys_of_a_parsed_one_inside_it() -> None:
    code = f"""
from acp_bindings.v1 import SessionNotification, SessionUpdateAgentMessageChunk, ContentBlockText
from acp_runtime.jsonrpc.decoding import Decoder
from acp_bindings.v1.connecting import CLIENT_SIDE
def main():
    SessionNotification(session_id="s", update=SessionUpdateAgentMessageChunk(content=ContentBlockText(text="x")))
    line = {LINE!r}
    message = Decoder({{}}, CLIENT_SIDE.notifications).decode(
        b'{{"jsonrpc":"2.0","method":"session/update","params":%b}}' % line.encode()
    )
    print(SessionNotification(session_id="t", update=message.params.update).model_dump_json())
    print(message.params.model_dump_json())
main()
"""
    assert run_code(code).split() == [
        '{"sessionId":"t","update":{"entries":[],"sessionUpdate":"plan","new":1}}',
        LINE,
    ]


def test_built_and_parsed_models_are_equal_whichever_came_first() -> None:
    built = SessionNotification(session_id="s", update=SessionUpdatePlan(entries=[]))
    parsed = SessionNotification.model_validate_json(built.model_dump_json())
    assert parsed == built == SessionNotification(session_id="s", update=parsed.update)
    assert isinstance(parsed.update, Plan)


def test_models_inside_a_built_model_are_dumped_to_python_too() -> None:
    chunk = SessionUpdateAgentMessageChunk(content=ContentBlockText(text="x"))
    dumped = {
        "sessionId": "s",
        "update": {"content": {"text": "x", "type": "text"}, "sessionUpdate": "agent_message_chunk"},
    }
    assert SessionNotification(session_id="s", update=chunk).model_dump() == dumped
    assert SessionNotification(session_id="s", update=chunk).model_dump(mode="json") == dumped


@pytest.mark.parametrize("wrong", [{"content": "x"}, 5])
def test_a_value_that_is_not_a_model_is_not_dumped_where_a_model_belongs(wrong: Any) -> None:
    SessionUpdatePlan(entries=[])
    SessionNotification(session_id="s", update=SessionUpdatePlan(entries=[]))
    for bad in (
        SessionUpdatePlan.model_construct(session_update="plan", entries=[wrong]),
        SessionNotification.model_construct(session_id="s", update=wrong),
        SessionNotification(
            session_id="s", update=SessionUpdatePlan.model_construct(session_update="plan", entries=[wrong])
        ),
    ):
        with pytest.raises(PydanticSerializationError):
            dump(bad)


def test_a_model_outside_a_union_is_not_dumped_where_the_union_belongs() -> None:
    wrong = SessionNotification.model_construct(session_id="s", update=ContentBlockText(text="x"))
    with pytest.raises(PydanticSerializationError):
        dump(wrong)
    SessionNotification.model_validate_json(LINE)
    with pytest.raises(PydanticSerializationError):
        dump(wrong)
