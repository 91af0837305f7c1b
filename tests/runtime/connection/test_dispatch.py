"""Rules 11 to 14: which handler gets a message, and how each request is answered."""

from __future__ import annotations

import asyncio
import gc
import json
import math
import sys
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from acp_bindings.v1 import (
    CloseSessionRequest,
    CloseSessionResponse,
    ContentBlockText,
    ListSessionsResponse,
    PlanEntry,
    PromptRequest,
    PromptResponse,
    SessionUpdateAgentMessageChunk,
    SessionUpdatePlan,
)
from acp_runtime import AuthenticationRequired, RequestError
from acp_runtime.jsonrpc.error_responses import explain, summary
from acp_runtime.jsonrpc.messages import IncomingRequest
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, prompt, serving, update

CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


async def test_rule_11_an_unknown_request_is_answered_method_not_found(link: Link) -> None:
    async with serving(link) as peer:
        error = (await peer.call("craft/drainMidTurnQueue", {"x": 1}))["error"]
        assert error == {"code": -32601, "message": "Method not found", "data": {"method": "craft/drainMidTurnQueue"}}


@pytest.mark.parametrize("method", ["unknown/thing", "$/unknown", "session/prompt", "session/update"])
async def test_rule_11_an_unknown_notification_or_a_request_without_an_id_is_ignored(
    link: Link, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "acp_runtime")
    async with serving(link) as peer:
        await peer.send({"method": method, "params": prompt(1)["params"]})
        assert await peer.until_quiet() == []
    assert [record.levelname for record in caplog.records if method in record.getMessage()] == ["DEBUG"]


FOR_THE_OTHER_SIDE = ["fs/read_text_file", "session/request_permission", "terminal/create"]
NOTIFICATIONS = ["session/cancel", "$/cancel_request"]


@pytest.mark.parametrize("method", [*FOR_THE_OTHER_SIDE, *NOTIFICATIONS, "_zed/ask"])
async def test_rule_11_requests_for_the_other_side_are_answered_method_not_found(link: Link, method: str) -> None:
    async with serving(link) as peer:
        params = {"sessionId": "s1", "path": "/x", "requestId": 1}
        assert (await peer.call(method, params))["error"]["code"] == -32601


async def test_rule_11_methods_with_an_underscore_go_to_the_extension_handlers(link: Link) -> None:
    class Extended(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            return {"method": method, "params": params, "noted": noted}

        async def ext_notification(self, method: str, params: Any) -> None:
            noted.append((method, params))

    noted: list[Any] = []
    async with serving(link, Extended) as peer:
        await peer.send({"method": "_zed/note", "params": [1]}, {"method": "_zed/none"})
        await peer.until_quiet()
        answer = await peer.call("_zed/ask", {"a": None})
        assert answer["result"] == {
            "method": "_zed/ask",
            "params": {"a": None},
            "noted": [["_zed/note", [1]], ["_zed/none", None]],
        }


@pytest.mark.parametrize("raw", [b"", b',"params":null', b',"params":{}'])
async def test_rule_12_missing_and_null_params_are_an_empty_object(link: Link, raw: bytes) -> None:
    class Listing(PlainAgent):
        async def session_list(self, request: Any, /) -> Any:
            assert request.model_dump() == {}
            return ListSessionsResponse(sessions=[])

    async with serving(link, Listing) as peer:
        await peer.send(b'{"jsonrpc":"2.0","id":1,"method":"session/list"%b}\n' % raw)
        assert (await peer.receive())["result"] == {"sessions": []}


async def test_rule_12_invalid_params_are_answered_with_paths_and_messages_but_no_values(link: Link) -> None:
    async with serving(link) as peer:
        block = {"type": "image", "data": {"secret": "hunter2"}, "mimeType": "image/png"}
        tagless = {"type": "hunter2"}
        for bad, path in ((block, "prompt.0.image.data"), (tagless, "prompt.0")):
            answer = await peer.call("session/prompt", {"sessionId": {"x": "hunter2"}, "prompt": [bad]})
            error = answer["error"]
            assert error["code"] == -32602
            assert [fault["path"] for fault in error["data"]["errors"]] == ["sessionId", path]
            assert all(fault["message"] for fault in error["data"]["errors"])
            assert "hunter2" not in str(answer)


@pytest.mark.parametrize("params", [[], "text", 5, True])
async def test_rule_12_params_that_are_not_an_object_are_invalid_params(link: Link, params: Any) -> None:
    async with serving(link) as peer:
        assert (await peer.call("session/prompt", params))["error"]["code"] == -32602


def test_rule_12_listed_errors_are_limited_and_counted() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, int]).validate_json(json.dumps({"\x00" * 300 + str(n): "x" for n in range(5000)}))
    explained = explain(caught.value, 0)
    assert explained["count"] == 5000
    assert 10 < len(explained["errors"]) <= 100
    assert len(json.dumps(explained)) < 65_536
    assert 1000 < len(summary(explained, "result")) < 3000
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, int]).validate_json('{"a": "x", "b": "x"}')
    assert explain(caught.value, 0).keys() == {"errors"}


async def test_rule_12_an_invalid_notification_is_not_answered_and_logged_without_its_payload(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    async with serving(link) as peer:
        for _ in range(500):
            await peer.send({"method": "session/cancel", "params": {"sessionId": {"secret": "hunter2"}}})
        assert await peer.until_quiet() == []
    assert "session/cancel: sessionId: Input should be a valid string" in caplog.text
    assert "hunter2" not in caplog.text
    assert len(caplog.text) < 10_000


async def _error_of(link: Link, outcome: Any) -> Any:
    """Return the error that answers a prompt whose handler raises an exception, or returns something else."""

    class Failing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

    async with serving(link, Failing) as peer:
        error = (await peer.call("session/prompt", prompt(1)["params"]))["error"]
        assert await peer.until_quiet() == []
        return error


async def test_rule_13_a_request_error_is_sent_unchanged_and_not_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    error = await _error_of(link, RequestError(4711, "no", {"why": [1]}))
    assert error == {"code": 4711, "message": "no", "data": {"why": [1]}}
    assert await _error_of(link, AuthenticationRequired()) == {"code": -32000, "message": "Authentication required"}
    assert [record for record in caplog.records if record.name.startswith("acp_runtime")] == []


class Opaque:
    """A value that can't be dumped."""


RAISED: dict[str, Any] = {
    "an exception": ValueError("hunter2"),
    "SystemExit": SystemExit(3),
    "GeneratorExit": GeneratorExit(),
    "BaseException": BaseException("hunter2"),
    "nothing": None,
    "a dict": {"stopReason": "end_turn"},
    "another model": PlanEntry(content="x", priority="low", status="pending"),
    "a model that can't be dumped": PromptResponse.model_construct(stop_reason=Opaque()),
    "an error that can't be dumped": RequestError(1, "x", Opaque()),
    "an error with NaN": RequestError(1, "x", math.nan),
    "an error that contains itself": RequestError(1, "x", CIRCLE),
    "an error whose code is a boolean": RequestError(True, "x"),
    "an error whose code is a fraction": RequestError(1.5, "x"),  # type: ignore[arg-type]
    "an error without a message": RequestError(1, None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("raised", RAISED.values(), ids=RAISED)
async def test_rule_13_anything_else_is_answered_with_an_internal_error_without_details(
    link: Link, raised: Any
) -> None:
    assert await _error_of(link, raised) == {"code": -32603, "message": "Internal error"}


async def test_rule_13_a_handler_that_raises_cancelled_error_is_answered(link: Link) -> None:
    assert (await _error_of(link, asyncio.CancelledError()))["code"] == -32800


async def test_rule_13_the_traceback_goes_to_the_local_log(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    await _error_of(link, ValueError("what went wrong"))
    assert "what went wrong" in caplog.text
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("raised", [raised for raised in RAISED.values() if isinstance(raised, RequestError)])
async def test_rule_13_an_error_that_cannot_be_sent_is_logged_with_its_origin(
    link: Link, raised: RequestError, caplog: pytest.LogCaptureFixture
) -> None:
    await _error_of(link, raised)
    [record] = [record for record in caplog.records if record.name.startswith("acp_runtime")]
    assert record.levelname == "ERROR"
    assert "The handler of session/prompt raised an error that can't be sent" in record.getMessage()
    assert record.exc_info is not None
    assert record.exc_info[1] is raised


async def test_rule_13_an_update_that_is_not_json_raises_in_its_sender(link: Link) -> None:
    class Broken(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            changed = SessionUpdatePlan(entries=[])
            changed.entries.append(object())  # type: ignore[arg-type]
            unbuilt = SessionUpdatePlan.model_construct(entries=[object()])
            endless = SessionUpdateAgentMessageChunk(content=ContentBlockText(text="x"), meta={"x": math.inf})
            for wrong in (changed, unbuilt, endless):
                with pytest.raises(ValueError):  # noqa: PT011 - pydantic has two kinds
                    await self.client.session_update(session_id="s1", update=wrong)
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Broken) as peer:
        assert "result" in await peer.call("session/prompt", prompt(1)["params"])


async def test_a_result_of_a_subclass_is_sent_as_the_declared_class(link: Link) -> None:
    class Traced(PromptResponse):
        trace: str = "t"

    class Tracing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            return Traced(stop_reason="end_turn", meta={"a": 1})

    async with serving(link, Tracing) as peer:
        answer = await peer.call("session/prompt", prompt(1)["params"])
        assert answer["result"] == {"stopReason": "end_turn", "_meta": {"a": 1}}


async def test_a_result_without_fields_of_its_own_keeps_its_meta(link: Link) -> None:
    class Closing(PlainAgent):
        async def session_close(self, request: CloseSessionRequest, /) -> CloseSessionResponse:
            return CloseSessionResponse(meta={"a": 1})

    async with serving(link, Closing) as peer:
        assert (await peer.call("session/close", {"sessionId": "s"}))["result"] == {"_meta": {"a": 1}}


async def test_rule_13_a_failing_notification_handler_does_not_affect_other_notifications(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Fragile(PlainClient):
        async def session_update(self, notification: Any, /) -> None:
            await super().session_update(notification)
            match len(self.updates):
                case 1:
                    raise ValueError("broken")
                case 2:
                    sys.exit(1)
                case 3:
                    raise asyncio.CancelledError
                case 4:
                    task = asyncio.current_task()
                    assert task is not None
                    task.cancel()
                    await asyncio.sleep(0)
                case 6:
                    done.set()
                case _:
                    pass

    done = asyncio.Event()
    factory = RecordingFactory(Fragile)
    async with calling(link, factory) as (_, peer):
        await peer.send(*(update("s1", str(number)) for number in range(6)))
        await done.wait()
        assert len(factory.handler.updates) == 6
    assert "broken" in caplog.text


@pytest.mark.parametrize("method", ["session/list", "logout"])
async def test_rule_14_methods_that_are_not_implemented_are_answered_method_not_found(link: Link, method: str) -> None:
    async with serving(link) as peer:
        assert (await peer.call(method, {}))["error"]["code"] == -32601


@pytest.mark.slow
async def test_handled_requests_are_freed_without_the_garbage_collector(link: Link) -> None:
    async with serving(link) as peer:
        # What exists is left out of `gc.get_objects()`.
        gc.freeze()
        gc.disable()
        try:
            for number in range(20):
                await peer.send(prompt(number))
                await peer.receive()
            await peer.until_quiet()
            alive = [item for item in gc.get_objects() if type(item) is IncomingRequest]
        finally:
            gc.enable()
    assert alive == []
