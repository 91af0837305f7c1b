"""Deferred classes behave as if they had been built from the start."""

from __future__ import annotations

import pickle

import pytest
from pydantic import BaseModel, TypeAdapter

from acp_bindings import v1
from acp_bindings.v1 import ContentBlock, ContentBlockText
from tests.support.models.fresh_process import run_in_fork

pytestmark = pytest.mark.slow

DEFERRED_CLASSES = """
from importlib import import_module
models = import_module("acp_bindings.v1.models")
classes = {name: each for name, each in vars(models).items() if isinstance(each, type)}
classes = {name: each for name, each in classes.items() if each.__module__ == models.__name__}
deferred = [name for name, each in classes.items() if type(each).__name__ == "DeferredMeta"]
"""


def test_importing_builds_no_class_and_using_one_builds_only_what_it_needs() -> None:
    printed = run_in_fork(
        DEFERRED_CLASSES
        + """
assert len(deferred) > 150 and len(deferred) == len(classes), set(classes) - set(deferred)
models.ContentBlockText(text="x")
print(sorted(name for name in deferred if type(classes[name]).__name__ != "DeferredMeta"))
"""
    )
    assert printed == "['Annotations', 'ContentBlockText', 'TextContent']"


def test_a_class_is_complete_whichever_attribute_is_read_first() -> None:
    run_in_fork(
        DEFERRED_CLASSES
        + """
import copy, inspect, pickle
from pydantic import TypeAdapter
uses = [
    lambda cls: cls.model_fields, lambda cls: cls.__doc__, lambda cls: cls.__init__, lambda cls: cls.__dict__,
    lambda cls: inspect.signature(cls), lambda cls: cls.model_json_schema(), lambda cls: TypeAdapter(cls).json_schema(),
    lambda cls: pickle.dumps(cls), lambda cls: copy.deepcopy(cls), lambda cls: cls.model_config, lambda cls: hash(cls),
    lambda cls: cls.__pydantic_complete__, lambda cls: cls.model_construct(), lambda cls: dir(cls),
    lambda cls: type("Sub", (cls,), {"__module__": "elsewhere"}), lambda cls: isinstance(3, cls),
    lambda cls: cls | None, lambda cls: repr(cls),
]
for use, name in zip(uses, deferred):
    cls = classes[name]
    use(cls)
    assert cls.__name__ == name and cls.__module__ == "acp_bindings.v1.models"
    assert cls.__pydantic_decorators__ is not models.Model.__pydantic_decorators__
    assert cls.model_fields is cls.__dict__["__pydantic_fields__"]
    parameters = [each for each in inspect.signature(cls).parameters.values() if each.kind is each.KEYWORD_ONLY]
    assert [each.name for each in parameters] == list(cls.model_fields), cls
assert len(uses) <= len(deferred)
"""
    )


def test_many_threads_may_use_deferred_classes_at_once() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import sys
sys.setswitchinterval(1e-6)
together = Barrier(8)
def use(number):
    together.wait()
    for name in deferred:
        classes[name].model_fields
    text = models.ContentBlockText(text="x")
    built = models.SessionNotification(
        session_id="s", update=models.SessionUpdateAgentMessageChunk(content=text)
    ).model_dump_json()
    return models.SessionNotification.model_validate_json(built).model_dump_json()
with ThreadPoolExecutor(8) as pool:
    print(len(set(pool.map(use, range(8)))))
"""
    for _ in range(3):
        assert run_in_fork(DEFERRED_CLASSES + code) == "1"


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
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(value, protocol)
        printed = run_in_fork(f"import pickle; print(pickle.loads({pickled!r}).model_dump_json())")
        assert printed == value.model_dump_json()


def test_a_class_has_its_own_constructor_even_if_its_base_was_used_first() -> None:
    run_in_fork(
        DEFERRED_CLASSES
        + """
models.ToolCall(tool_call_id="1", title="t")
models.TextContent(text="x")
call, text = models.SessionUpdateToolCall(tool_call_id="1", title="t"), models.ContentBlockText(text="x")
assert call.session_update == "tool_call" and text.model_dump() == {"text": "x", "type": "text"}, (call, text)
"""
    )
