"""Handlers of typed extension methods follow the same rules as the schema's handlers."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from pydantic import BaseModel, model_validator

from acp_runtime import ExtNotification, ExtRequest, handles
from tests.runtime.connection.extensions import (
    CLEAR,
    DRAIN,
    EXAMPLES,
    KINDS,
    NOTE,
    Deep,
    Nothing,
    Ours,
    Theirs,
    VendorAgent,
)
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import Link, PlainAgent, calling, serving


@pytest.mark.parametrize("kind", KINDS)
async def test_a_handler_gets_params_of_its_type_and_answers_with_its_result(link: Link, kind: str) -> None:
    async with serving(link, factory := RecordingFactory(VendorAgent)) as peer:
        params = {"text": "é", "sessionId": "s"}
        message = await peer.call(f"_acme/{kind}", params)
        assert message["result"] == params
        await peer.send({"method": f"_acme/note_{kind}", "params": params})
    assert isinstance(factory.handler.noted[0], type(EXAMPLES[kind]))


@pytest.mark.parametrize("kind", KINDS)
async def test_rule_12_invalid_params_are_answered_with_their_paths(link: Link, kind: str) -> None:
    async with serving(link, VendorAgent) as peer:
        wrong = (await peer.call(f"_acme/{kind}", {"text": 5}))["error"]
        missing = (await peer.call(f"_acme/{kind}"))["error"]
        no_object = (await peer.call(f"_acme/{kind}", "x"))["error"]
    assert [error["code"] for error in (wrong, missing, no_object)] == [-32602] * 3
    assert [fault["path"] for fault in wrong["data"]["errors"]] == ["text"]
    assert missing["data"]["errors"] == [{"path": "text", "message": "Field required"}]
    assert [fault["path"] for fault in no_object["data"]["errors"]] == [""]


async def test_a_request_and_a_notification_may_have_the_same_name(link: Link) -> None:
    class Both(VendorAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return "request"

        async def ext_notification(self, method: str, params: Any) -> None:
            notified.append(method)

    notified: list[str] = []
    params = {"text": "a"}
    async with serving(link, factory := RecordingFactory(Both)) as peer:
        assert (await peer.call("_acme/note_ours", params))["result"] == "request"
        await peer.send({"method": "_acme/ours", "params": params})
        await peer.until_quiet()
    assert notified == ["_acme/ours"]
    assert factory.handler.noted == []


async def test_rule_12_a_validator_that_fails_unexpectedly_costs_one_message(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(link, factory := RecordingFactory(VendorAgent)) as peer:
        assert (await peer.call("_acme/checked", {"text": "unknown"}))["error"]["code"] == -32603
        await peer.send({"method": "_acme/note_checked", "params": {"text": "\ud83d"}})
        await peer.send({"method": "_acme/note_checked", "params": {"text": "unknown"}})
        assert (await peer.call("_acme/checked", {"text": "known"}))["result"] == {"text": "known"}
    assert factory.handler.noted == []
    logged = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(logged) == 3
    assert all(record.exc_info is not None and record.exc_info[0] is KeyError for record in logged)
    assert logged[0].getMessage() == "The params of _acme/checked can't be validated"


async def test_rule_12_a_validator_gets_an_empty_object_without_params_and_may_fail(link: Link) -> None:
    class Named(BaseModel):
        text: str

        @model_validator(mode="before")
        @classmethod
        def _rename(cls, value: Any) -> Any:
            return {"text": names[value.get("name", "nobody")]}

    class Agent(PlainAgent):
        @handles(ExtRequest("_acme/named", Named, Named))
        async def named(self, params: Named) -> Named:
            return params

    names = {"a": "A"}
    async with serving(link, Agent) as peer:
        for params in ({}, {"params": None}):
            await peer.send({"id": 1, "method": "_acme/named", **params})
            assert (await peer.receive())["error"]["code"] == -32603
        assert (await peer.call("_acme/named", {"name": "a"}))["result"] == {"text": "A"}
        names["nobody"] = "?"
        assert (await peer.call("_acme/named", None))["result"] == {"text": "?"}


@pytest.mark.parametrize("result", [None, {}, {"text": 5}, "text", Ours(text="a")], ids=repr)
async def test_rule_13_a_result_of_the_wrong_type_is_an_internal_error(
    link: Link, result: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(link, factory := RecordingFactory(VendorAgent)) as peer:
        factory.handler.result = result
        error = (await peer.call("_acme/result", {"text": "a"}))["error"]
        assert (error["code"], error.get("data")) == (-32603, None)
        factory.handler.result = Theirs(text="right")
        assert (await peer.call("_acme/result", {"text": "a"}))["result"] == {"text": "right", "sessionId": None}
    kind = "None" if result is None else type(result).__name__
    assert f"The handler of _acme/result returned {kind}, not Theirs. Return an instance of it" in caplog.text
    assert ("for success; raise ResourceNotFound" in caplog.text) == (result is None)


async def test_rule_10_an_empty_result_is_an_object_and_null_is_accepted(link: Link) -> None:
    class Clearing(PlainAgent):
        @handles(CLEAR)
        async def clear(self, params: Ours) -> Any:
            return None

    async with serving(link, Clearing) as peer:
        assert (await peer.call("_acme/clear", {"text": "a"}))["result"] == {}
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.call(CLEAR, Ours(text="a")))
        await peer.answer(result=None)
        assert await call == Nothing()


async def test_rule_11_other_extension_methods_go_to_the_raw_hooks(link: Link) -> None:
    raw: list[Any] = []

    class Both(VendorAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            raw.append((method, params))
            return {"raw": True}

        async def ext_notification(self, method: str, params: Any) -> None:
            raw.append((method, params))

    async with serving(link, Both) as peer:
        assert (await peer.call("_acme/other", {"a": 1}))["result"] == {"raw": True}
        # The method of a notification with an id, and the method of a request without one.
        assert (await peer.call("_acme/note_ours", {"text": 5}))["result"] == {"raw": True}
        await peer.send({"method": "_acme/ours", "params": {"text": 5}}, {"method": "_other"})
        await peer.until_quiet()
    assert raw == [
        ("_acme/other", {"a": 1}),
        ("_acme/note_ours", {"text": 5}),
        ("_acme/ours", {"text": 5}),
        ("_other", None),
    ]


async def test_a_name_without_underscore_is_handled_if_it_was_declared_so(link: Link) -> None:
    class Draining(PlainAgent):
        @handles(DRAIN)
        async def drain(self, params: Ours) -> Ours:
            return params

    async with serving(link, Draining) as peer:
        assert (await peer.call("craft/drain", {"text": "a"}))["result"] == {"text": "a"}
        assert (await peer.call("craft/other", {"text": "a"}))["error"]["code"] == -32601


async def test_rule_3_deep_nesting_and_cut_text_in_any_container_survive(link: Link) -> None:
    received: list[Deep] = []
    tree: Any = "\ud83d"
    for _ in range(150):
        tree = [tree]

    class Keeping(PlainAgent):
        @handles(ExtNotification("_acme/deep", Deep))
        async def keep(self, params: Deep) -> None:
            received.append(params)

    async with serving(link, Keeping) as peer:
        await peer.send(
            {"method": "_acme/deep", "params": {"tree": tree, "pair": ["\ud83d", 1], "names": ["\udead", "b"]}}
        )
        await peer.until_quiet()
    assert received == [Deep(tree=tree, pair=("\ud83d", 1), names=frozenset({"\udead", "b"}))]


@pytest.mark.parametrize("kind", NOTE)
async def test_rule_15_typed_notifications_of_a_session_are_handled_in_order(link: Link, kind: str) -> None:
    handled: list[str] = []
    release = asyncio.Event()

    class Slow(PlainAgent):
        @handles(NOTE[kind])
        async def note(self, params: Any) -> None:
            if params.text == "first of a":
                await release.wait()
            handled.append(params.text)
            if params.text == "first of b":
                release.set()

    async with serving(link, Slow) as peer:
        for session, text in (("a", "first of a"), ("a", "second of a"), ("b", "first of b")):
            await peer.send({"method": f"_acme/note_{kind}", "params": {"sessionId": session, "text": text}})
        await peer.until_quiet()
        await asyncio.wait_for(release.wait(), 10)
    assert handled == ["first of b", "first of a", "second of a"]
