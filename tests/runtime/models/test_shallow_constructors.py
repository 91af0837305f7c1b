"""Building an instance builds no other classes than its own, and it is dumped like a parsed one."""

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
from tests.support.models.fresh_process import run_in_fork

LINE = '{"sessionId":"s","update":{"entries":[],"sessionUpdate":"plan","new":1},"_meta":{"a":1},"other":2}'


def test_building_a_notification_builds_no_class_that_it_does_not_contain() -> None:
    code = """
from acp_bindings.v1 import models
text = models.ContentBlockText(text="x")
models.SessionNotification(session_id="s", update=models.SessionUpdateAgentMessageChunk(content=text)).model_dump_json()
print(models.__dict__["ToolCall"].__class__.__name__, models.SessionNotification.__pydantic_complete__)
"""
    assert run_in_fork(code).split() == ["DeferredMeta", "False"]


def test_a_built_model_dumps_the_unknown_keys_of_a_parsed_one_inside_it() -> None:
    code = f"""
from acp_bindings.v1 import SessionNotification, SessionUpdateAgentMessageChunk, ContentBlockText
from acp_runtime.jsonrpc.decoding import Decoder
from acp_bindings.v1.connect import CLIENT_SIDE
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
    assert run_in_fork(code).split() == [
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


ENTRY: dict[str, Any] = {"content": "x", "priority": "low", "status": "pending"}


@pytest.mark.parametrize("wrong", [ENTRY, 5])
def test_a_value_that_is_not_a_model_is_not_dumped_where_a_model_belongs(wrong: Any) -> None:
    SessionUpdatePlan(entries=[])
    SessionNotification(session_id="s", update=SessionUpdatePlan(entries=[]))
    for bad in (
        SessionUpdatePlan.model_construct(entries=[wrong]),
        SessionNotification.model_construct(session_id="s", update=wrong),
        SessionNotification(session_id="s", update=SessionUpdatePlan.model_construct(entries=[wrong])),
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


def test_an_instance_of_an_incomplete_class_is_dumped_wherever_it_is_contained() -> None:
    code = """
import json
from typing import Any
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json
from acp_bindings.v1 import models as m
from acp_runtime.jsonrpc.encoding import dump
from tests.support.models.fresh_process import run_in_fork

class Holder(BaseModel):
    held: Any

held = {
    "a list": lambda value: json.loads(to_json([value])),
    "a dict": lambda value: json.loads(dump([value])),
    "a model": lambda value: [json.loads(Holder(held=value).model_dump_json())["held"]],
    "anything": lambda value: TypeAdapter(Any).dump_python([value]),
}
classes = [m.Plan, m.SessionUpdatePlan, m.AvailableCommandsUpdate, m.ListSessionsResponse]
for (where, dumped), cls in zip(held.items(), classes, strict=True):
    value = cls.model_construct(new=1)
    assert not cls.__pydantic_complete__
    assert dumped(value) == [value.model_dump()] and value.model_dump()["new"] == 1, where
parsed = m.RequestPermissionRequest.model_validate_json('{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}')
assert not m.ToolCallUpdate.__pydantic_complete__
assert to_json([parsed.tool_call]) == b'[{"toolCallId":"t"}]'
"""
    run_in_fork(code)
