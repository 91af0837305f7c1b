"""How the places of a message that the protocol restricts are found, and what is remembered for that."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from types import GenericAlias
from typing import Any
from weakref import ref

import pytest

from acp_bindings import v1, v2_draft
from acp_runtime import Model
from acp_runtime.connection import places, state
from acp_runtime.connection.places import MessagePlaces
from acp_runtime.stubs.facts import Absolute, Needs, PlaceFact
from tests.support.runtime.peer import PlainAgent, PlainClient


def test_items_of_arrays_and_maps_are_in_the_place_of_the_field() -> None:
    class Folders(Model):
        paths: Any

    fact = Absolute("paths")
    find = MessagePlaces([fact]).find_violations
    for paths in (["/", "a"], [["/"], ["a"]], {"x": "/", "y": "a"}, [{"x": ["/", "a"]}], {"x": [{"y": "a"}]}):
        assert find(Folders.model_construct(paths=paths)) == {fact: "a"}
    for paths in ([], {}, [["/"], []], {"x": "/", "y": None}, [{"x": ["/"]}], Folders.model_construct(paths="a")):
        assert find(Folders.model_construct(paths=paths)) == {}


def test_each_tag_of_a_model_is_a_step() -> None:
    def find(update: Any) -> Any:
        notification = v2_draft.UpdateSessionNotification(session_id="s", update=update)
        return MessagePlaces([fact]).find_violations(notification)

    fact = Needs("update.state_update.running", "capabilities.states")
    running = v2_draft.SessionUpdateStateUpdateRunning()
    assert find(running) == {fact: running}
    assert find(v2_draft.SessionUpdateStateUpdateRequiresAction()) == {}
    assert find(v2_draft.SessionUpdateOther(session_update="_new")) == {}


def test_a_step_that_is_no_tag_of_a_member_is_none_of_its_fields() -> None:
    diff = v1.ToolCallContentDiff(path="relative", new_text="")
    message = v1.ToolCallUpdate(tool_call_id="t", content=[diff])
    assert MessagePlaces([Absolute("content.path")]).find_violations(message) == {}
    assert MessagePlaces([Absolute("content.diff.path")]).find_violations(message) != {}


def test_a_field_has_not_all_places_if_another_class_has_more() -> None:
    class Path(Model):
        path: str

    class PathAndFolder(Path):
        folder: str

    facts = [Absolute("path"), Absolute("folder")]
    places = MessagePlaces(facts)
    assert places.find_violations(Path(path="a")) == {facts[0]: "a"}
    assert places.only == ""
    assert places.find_violations(PathAndFolder(path="/", folder="a")) == {facts[1]: "a"}


async def test_connections_with_the_same_capabilities_share_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    created: list[MessagePlaces] = []

    class CountedPlaces(MessagePlaces):
        def __init__(self, facts: Iterable[PlaceFact]) -> None:
            super().__init__(facts)
            created.append(self)

    async def prompt_once() -> None:
        async with v1.connect_in_process(PlainAgent, PlainClient) as agent:
            await agent.initialize(protocol_version=1)
            await agent.session_new(cwd="/", mcp_servers=[])
            await agent.session_prompt(session_id="s1", prompt=[v1.ContentBlockText(text="x")])

    await prompt_once()
    monkeypatch.setattr(state, "MessagePlaces", CountedPlaces)
    for _ in range(3):
        await prompt_once()
    assert not created


def test_a_place_forgets_classes_beyond_a_number_and_still_finds_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_MAX_PLANS", 2)
    message = MessagePlaces([Absolute("path")])
    classes = [type(f"Request{number}", (v1.ReadTextFileRequest,), {}) for number in range(5)]
    for cls in classes * 2:
        assert message.find_violations(cls(session_id="s1", path="relative"))
        assert not message.find_violations(cls(session_id="s1", path="/absolute"))
    forgotten = ref(classes[0])
    classes.clear()
    del cls
    gc.collect()
    assert forgotten() is None


def test_a_place_forgets_the_classes_that_the_fields_of_forgotten_classes_declare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "_MAX_PLANS", 2)
    message = MessagePlaces([Needs("prompt.image", "image")])
    forgotten: list[ref[type]] = []
    for number in range(4):
        block = type(f"Image{number}", (v1.ContentBlockImage,), {})
        cls = type(f"Request{number}", (v1.PromptRequest,), {"__annotations__": {"prompt": GenericAlias(list, block)}})
        assert message.find_violations(cls(session_id="s1", prompt=[block(data="", mime_type="image/png")]))
        forgotten.append(ref(block))
    gc.collect()
    assert [block() for block in forgotten[:2]] == [None, None]
