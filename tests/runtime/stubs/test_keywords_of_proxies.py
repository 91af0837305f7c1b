"""Proxies build params from keywords, and send ready-made params."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import ValidationError

from acp_bindings.v1 import (
    CancelNotification,
    ContentBlock,
    ContentBlockText,
    PromptRequest,
    ReadTextFileRequest,
    RemoteAgent,
    RemoteClient,
    SetSessionConfigOptionRequestBoolean,
    SetSessionConfigOptionRequestValueId,
)
from acp_runtime import ABSENT
from tests.support.models.recorder import Recorder

BLOCKS = [ContentBlockText(text="a"), ContentBlockText(text="b")]


@pytest.mark.parametrize("prompt", [BLOCKS, tuple(BLOCKS), deque(BLOCKS)], ids=["list", "tuple", "deque"])
def test_any_sequence_becomes_the_list_of_the_request(prompt: Sequence[ContentBlock]) -> None:
    channel = Recorder()
    asyncio.run(RemoteAgent(channel).session_prompt(session_id="1", prompt=prompt))
    assert channel.sent == [PromptRequest(session_id="1", prompt=list(BLOCKS))]


def test_any_mapping_becomes_the_dict_of_the_request() -> None:
    channel = Recorder()
    meta: Any = MappingProxyType({"acme.dev": MappingProxyType({"list": (1, 2)})})
    asyncio.run(RemoteAgent(channel).session_prompt(session_id="1", prompt=[], meta=meta))
    assert channel.sent == [PromptRequest(session_id="1", prompt=[], meta={"acme.dev": {"list": [1, 2]}})]


def test_an_absent_keyword_that_only_another_member_has_is_left_out() -> None:
    channel = Recorder()
    remote: Any = RemoteAgent(channel)
    asyncio.run(remote.session_set_config_option(type=ABSENT, session_id="s", config_id="c", value="v"))
    assert channel.sent == [SetSessionConfigOptionRequestValueId(session_id="s", config_id="c", value="v")]


def refused(method: str, **keywords: Any) -> tuple[str, list[tuple[Any, str]]]:
    """Return the title of the error of a call, and the path and message of each mistake."""
    with pytest.raises(ValidationError) as caught:
        asyncio.run(getattr(RemoteAgent(Recorder()), method)(**keywords))
    return caught.value.title, [(error["loc"], error["msg"]) for error in caught.value.errors()]


def refused_option(**keywords: Any) -> tuple[str, list[tuple[Any, str]]]:
    return refused("session_set_config_option", **keywords)


def test_the_error_is_for_the_member_with_the_given_tag() -> None:
    title, mistakes = refused_option(type="boolean", session_id="s", value="x")
    assert title == "SetSessionConfigOptionRequestBoolean"
    assert mistakes == [(("config_id",), "Field required"), (("value",), "Input should be a valid boolean")]


def test_the_error_is_for_the_member_with_all_keywords() -> None:
    given: dict[str, Any] = {"message": "m", "elicitation_id": "e", "session_id": "s"}
    with pytest.raises(ValidationError) as caught:
        asyncio.run(RemoteClient(Recorder()).elicitation_create(url=5, **given))
    assert caught.value.title == "CreateElicitationRequestUrlSession"
    assert [error["loc"] for error in caught.value.errors()] == [("url",)]


def test_a_keyword_that_no_member_has_is_reported_once() -> None:
    title, mistakes = refused_option(session_id="s", config_id="c", value="v", colour="red")
    assert title == "SetSessionConfigOptionRequestValueId"
    assert mistakes == [
        (("colour",), "Unexpected argument: SetSessionConfigOptionRequestValueId has no field `colour`")
    ]


class Traced(PromptRequest):
    trace: str = "t"


class TracedOption(SetSessionConfigOptionRequestBoolean):
    trace: str = "t"


class TracedCancel(CancelNotification):
    trace: str = "t"


def test_a_ready_made_instance_of_a_subclass_is_sent_as_the_declared_class() -> None:
    channel = Recorder()
    remote = RemoteAgent(channel)
    asyncio.run(remote.request(Traced(session_id="1", prompt=BLOCKS)))
    asyncio.run(remote.request(TracedOption(session_id="1", config_id="c", value=True)))
    asyncio.run(remote.notify(TracedCancel(session_id="1")))
    assert channel.sent == [
        PromptRequest(session_id="1", prompt=BLOCKS),
        SetSessionConfigOptionRequestBoolean(session_id="1", config_id="c", value=True),
        CancelNotification(session_id="1"),
    ]


def test_unknown_keys_of_a_subclass_are_sent_even_if_named_like_attributes() -> None:
    channel = Recorder()
    wire = {"sessionId": "1", "session_id": "own", "more": 1}
    asyncio.run(RemoteAgent(channel).notify(TracedCancel.model_validate({**wire, "trace": "u"})))
    assert [sent.model_dump() for sent in channel.sent] == [wire]


def test_a_ready_made_request_that_the_peer_does_not_handle_is_refused() -> None:
    remote: Any = RemoteAgent(Recorder())
    for wrong in (ReadTextFileRequest(session_id="1", path="/a"), CancelNotification(session_id="1")):
        with pytest.raises(TypeError, match="is not the params of any method you can call on this peer"):
            asyncio.run(remote.request(wrong))
