"""Classes that are built when something is first asked of them behave as if they had been from the start."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from pydantic import BaseModel, TypeAdapter

from acp_bindings import v1
from acp_bindings.v1 import ContentBlock, ContentBlockText

pytestmark = pytest.mark.slow

FRESH = """
from importlib import import_module
models = import_module("acp_bindings.v1.models")
classes = {name: each for name, each in vars(models).items() if isinstance(each, type)}
classes = {name: each for name, each in classes.items() if each.__module__ == models.__name__}
deferred = [name for name, each in classes.items() if type(each).__name__ == "DeferredMeta"]
"""


def in_a_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", FRESH + code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_importing_builds_no_class_and_using_one_builds_what_it_is_made_of() -> None:
    printed = in_a_fresh_process("""
assert len(deferred) > 150 and len(deferred) == len(classes), set(classes) - set(deferred)
models.ContentBlockText(text="x")
print(sorted(name for name in deferred if type(classes[name]).__name__ != "DeferredMeta"))
""")
    assert printed == "['Annotations', 'ContentBlockText', 'TextContent']"


def test_whatever_is_asked_first_the_class_is_whole() -> None:
    in_a_fresh_process("""
import copy, inspect, pickle
from pydantic import TypeAdapter
first = [
    lambda cls: cls.model_fields, lambda cls: cls.__doc__, lambda cls: cls.__init__, lambda cls: cls.__dict__,
    lambda cls: inspect.signature(cls), lambda cls: cls.model_json_schema(), lambda cls: TypeAdapter(cls).json_schema(),
    lambda cls: pickle.dumps(cls), lambda cls: copy.deepcopy(cls), lambda cls: cls.model_config, lambda cls: hash(cls),
    lambda cls: cls.__pydantic_complete__, lambda cls: cls.model_construct(), lambda cls: dir(cls),
    lambda cls: type("Sub", (cls,), {"__module__": "elsewhere"}), lambda cls: isinstance(3, cls),
    lambda cls: cls | None, lambda cls: repr(cls),
]
for ask, name in zip(first, deferred):
    cls = classes[name]
    ask(cls)
    assert cls.__name__ == name and cls.__module__ == "acp_bindings.v1.models"
    assert cls.__pydantic_decorators__ is not models.Model.__pydantic_decorators__
    assert cls.model_fields is cls.__dict__["__pydantic_fields__"]
assert len(first) <= len(deferred)
""")


@pytest.mark.slow
def test_many_threads_may_ask_first() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import sys
sys.setswitchinterval(1e-6)
together = Barrier(8)
def ask(number):
    together.wait()
    for name in deferred:
        classes[name].model_fields
    text = models.ContentBlockText(text="x")
    built = models.SessionNotification(
        session_id="s", update=models.SessionUpdateAgentMessageChunk(content=text)
    ).model_dump_json()
    return models.SessionNotification.model_validate_json(built).model_dump_json()
with ThreadPoolExecutor(8) as pool:
    print(len(set(pool.map(ask, range(8)))))
"""
    for _ in range(3):
        assert in_a_fresh_process(code) == "1"


class Note(BaseModel):
    """Somebody's own model with ours in it."""

    block: ContentBlock


class Loud(ContentBlockText):
    """Somebody's own class of ours."""

    volume: int = 11


def test_models_work_inside_of_other_models_and_as_their_bases() -> None:
    text = ContentBlockText(text="x")
    assert Note(block=text).block is text
    assert Note.model_validate_json('{"block":{"type":"text","text":"x"}}') == Note(block=text)
    loud = Loud(text="x", volume=3)
    assert loud.model_dump_json() == '{"text":"x","type":"text","volume":3}'
    assert TypeAdapter(Loud).validate_json('{"type":"text","text":"x"}').volume == 11
    assert pickle.loads(pickle.dumps(loud)) == loud


def test_an_instance_can_be_unpickled_where_nothing_has_asked_for_its_class() -> None:
    value = v1.SessionNotification(session_id="s", update=v1.SessionUpdatePlan(entries=[]))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        code = f"import pickle; print(pickle.loads({pickle.dumps(value, protocol)!r}).model_dump_json())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout.strip() == value.model_dump_json()


def test_a_class_is_built_as_itself_though_its_base_was_used_before() -> None:
    in_a_fresh_process("""
models.ToolCall(tool_call_id="1", title="t")
models.TextContent(text="x")
call, text = models.SessionUpdateToolCall(tool_call_id="1", title="t"), models.ContentBlockText(text="x")
assert call.session_update == "tool_call" and text.model_dump() == {"text": "x", "type": "text"}, (call, text)
""")
