"""A class, whose validator pydantic builds when it is first needed, behaves as if it had been built from the start."""

from __future__ import annotations

import pickle

import pytest
from pydantic import BaseModel, TypeAdapter

from acp_bindings import v1
from acp_bindings.v1 import ContentBlock, ContentBlockText
from tests.support.models.fresh_process import run_code

pytestmark = pytest.mark.slow

MODELS = """
from acp_bindings.v1 import models
classes = [getattr(models, name) for name in models.__all__]
"""


def test_many_threads_may_use_deferred_classes_at_once() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import sys
sys.setswitchinterval(1e-6)
together = Barrier(8)
def use(number):
    together.wait()
    for cls in classes:
        getattr(cls, "model_fields", None)
    text = models.ContentBlockText(text="x")
    built = models.SessionNotification(
        session_id="s", update=models.SessionUpdateAgentMessageChunk(content=text)
    ).model_dump_json()
    return models.SessionNotification.model_validate_json(built).model_dump_json()
with ThreadPoolExecutor(8) as pool:
    print(len(set(pool.map(use, range(8)))))
"""
    for _ in range(3):
        assert run_code(MODELS + code) == "1"


class Note(BaseModel):
    """A user's model with a field of our type."""

    block: ContentBlock


class Loud(ContentBlockText):
    """A user's subclass."""

    volume: int = 11


def test_models_work_in_the_fields_of_other_models_and_as_bases() -> None:
    text = ContentBlockText(text="x")
    assert Note(block=text).block is text
    assert Note.model_validate_json('{"block":{"type":"text","text":"x"}}') == Note(block=text)
    loud = Loud(text="x", volume=3)
    assert loud.model_dump_json() == '{"text":"x","type":"text","volume":3}'
    assert TypeAdapter(Loud).validate_json('{"type":"text","text":"x"}').volume == 11
    assert pickle.loads(pickle.dumps(loud)) == loud


def test_an_instance_can_be_unpickled_in_a_process_that_has_not_used_its_class() -> None:
    value = v1.SessionNotification(session_id="s", update=v1.SessionUpdatePlan(entries=[]))
    for protocol in (1, pickle.HIGHEST_PROTOCOL):  # from protocol 2 on, classes are called in another way
        pickled = pickle.dumps(value, protocol)
        printed = run_code(f"import pickle; print(pickle.loads({pickled!r}).model_dump_json())")
        assert printed == value.model_dump_json()


def test_a_class_has_its_own_constructor_even_if_its_base_was_used_first() -> None:
    run_code(
        MODELS
        + """
models.ToolCall(tool_call_id="1", title="t")
models.TextContent(text="x")
call, text = models.SessionUpdateToolCall(tool_call_id="1", title="t"), models.ContentBlockText(text="x")
assert call.session_update == "tool_call" and text.model_dump() == {"text": "x", "type": "text"}, (call, text)
"""
    )
