"""Rule 13: an error response raises the exception class for its code, and is never forwarded."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import Any

import pytest

import acp_runtime
from acp_bindings.v1 import PromptRequest, PromptResponse
from acp_bindings.v1.connecting import CLIENT_SIDE
from acp_runtime import AuthenticationRequired, ConnectionClosed, MethodNotFound, Options, RemoteError, RequestError
from acp_runtime.connection import Connection, run
from acp_runtime.jsonrpc.error_responses import sole_error, wire_error
from acp_runtime.transports.memory import MemoryPipe
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, calling, line, prompt, serving

CLASSES = {
    -32700: "ParseError",
    -32600: "InvalidRequest",
    -32601: "MethodNotFound",
    -32602: "InvalidParams",
    -32603: "InternalError",
    -32800: "RequestCancelled",
    -32000: "AuthenticationRequired",
    -32002: "ResourceNotFound",
    -32022: "UnsupportedProtocolVersion",
}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"details": "ENOENT: no such file"}, "Internal error (-32603): ENOENT: no such file"),
        ({"details": "a\x1b[31m" + "x" * 9_000}, r"Internal error (-32603): a\x1b[31mxxx"),
        ({"details": {"a": 1}}, "Internal error (-32603)"),
        ("No such file or directory", "Internal error (-32603): No such file or directory"),
        (["details"], "Internal error (-32603)"),
        ({"errors": [{"path": "cwd", "message": "Field required"}]}, "Internal error (-32603): cwd: Field required"),
        ({"errors": [{"path": "a", "message": "no"}, 1, 2]}, "Internal error (-32603): a: no (and 2 more)"),
        ({"errors": [{"path": 1}]}, "Internal error (-32603)"),
        (None, "Internal error (-32603)"),
    ],
)
def test_rule_30_the_text_of_an_error_has_the_details_of_the_peer(data: Any, text: str) -> None:
    shown = str(RemoteError.of(-32603, "Internal error", data))
    assert shown.startswith(text)
    assert len(shown) < 600


def test_rule_11_a_long_method_is_echoed_in_part() -> None:
    assert len(MethodNotFound("_" + "x" * 1_000_000).data["method"]) == 200


@pytest.mark.parametrize("code", [*CLASSES, 7, -32099])
async def test_rule_13_an_error_response_raises_the_remote_error_for_its_code(link: Link, code: int) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.ensure_future(agent.session_prompt(session_id="s", prompt=[]))
        error = {"code": code, "message": "m", "data": {"d": [1]}}
        await peer.answer(error=error)
        with pytest.raises(RemoteError) as caught:
            await call
    raised = caught.value
    assert isinstance(raised, getattr(acp_runtime, CLASSES.get(code, "RequestError")))
    for error in (raised, copy.copy(raised), copy.deepcopy(raised), pickle.loads(pickle.dumps(raised))):
        assert type(error) is type(raised)
        assert (error.code, error.message, error.data) == (code, "m", {"d": [1]})
        assert str(error) == str(raised)


@pytest.mark.parametrize("code", [*CLASSES, 7])
async def test_rule_13_a_remote_error_that_a_handler_leaks_is_an_internal_error(
    link: Link, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Leaking(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            await self.client.ext_request("_ask")
            raise AssertionError

    async with serving(link, Leaking) as peer:
        await peer.send(prompt("p"))
        error = {"code": code, "message": "private", "data": "private"}
        await peer.answer(error=error)
        answer = (await peer.receive())["error"]
    assert answer == {"code": -32603, "message": "Internal error"}
    assert "session/prompt" in caplog.text


async def test_rule_13_an_exception_is_disclosed_only_with_disclose_errors(link: Link) -> None:
    class Failing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            raise ValueError("a secret")

    for disclosed in (False, True):
        async with serving(link, Failing, disclose_errors=disclosed) as peer:
            error = (await peer.call("session/prompt", prompt(1)["params"]))["error"]
            assert error["code"] == -32603
            assert error.get("data") == ({"exception": "ValueError", "text": "a secret"} if disclosed else None)


def test_rule_13_an_exception_without_a_text_is_disclosed_by_its_type() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise KeyError

    assert wire_error(Silent(), disclose=True).data == {"exception": "Silent", "text": ""}


async def test_rule_13_only_an_agent_with_a_process_points_to_its_stderr(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_ping"))
        await peer.answer(error={"code": -32603, "message": "Internal error"})
        with pytest.raises(RemoteError) as caught:
            await call
    assert caught.value.hint == ""


async def test_rule_13_only_for_an_internal_error_the_stderr_may_say_why() -> None:
    process: Any = object()
    there, back = MemoryPipe(), MemoryPipe()
    connection = Connection(CLIENT_SIDE, PlainClient, back, there, Options(guards="off"), process)
    running = asyncio.create_task(run(connection))
    calls = [asyncio.ensure_future(connection.remote.ext_request("_ping")) for _ in range(2)]
    for id, code in enumerate((-32603, 5)):
        back.write(line({"id": id, "error": {"code": code, "message": "m"}}))
    errors = await asyncio.gather(*calls, return_exceptions=True)
    assert [str(error) for error in errors] == ["m (-32603). The agent's stderr may say why.", "m (5)"]
    connection.stop()
    await running


def group(*errors: BaseException) -> BaseException:
    return BaseExceptionGroup("unhandled errors in a TaskGroup", errors)


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (group(AuthenticationRequired()), -32000),
        (group(group(asyncio.CancelledError()), group(asyncio.CancelledError(), group(RequestError(7, "no")))), 7),
        (group(asyncio.CancelledError(), group(asyncio.CancelledError())), -32800),
        (group(AuthenticationRequired(), AuthenticationRequired()), -32603),
        (group(AuthenticationRequired(), ValueError()), -32603),
        (group(RemoteError.of(-32000, "of another request")), -32603),
    ],
)
async def test_rule_13_a_group_of_one_error_is_answered_as_that_error(link: Link, raised: Any, code: int) -> None:
    class Failing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            raise raised

        async def ext_request(self, method: str, params: Any) -> Any:
            raise raised

    async with serving(link, Failing) as peer:
        for method, params in (("session/prompt", prompt(0)["params"]), ("_acme/x", {})):
            assert (await peer.call(method, params))["error"]["code"] == code


def test_a_group_of_several_errors_stays_whole() -> None:
    error = group(asyncio.CancelledError(), group(ValueError(), KeyError()))
    assert sole_error(error) is error


async def test_rule_13_a_group_is_logged_only_if_its_error_is_not_sent(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    ended = ConnectionClosed("The other one ended.")
    raised = [group(AuthenticationRequired()), group(ValueError("bug")), group(ended)]

    class Failing(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            raise raised.pop(0)

        async def ext_notification(self, method: str, params: Any) -> None:
            raise group(ended)

    async with serving(link, Failing) as peer:
        for _ in range(3):
            await peer.call("session/prompt", prompt(0)["params"])
        await peer.send({"method": "_acme/x"})
        await peer.until_quiet()
    assert [record.getMessage() for record in caplog.records] == [
        "The handler of session/prompt failed",
        "The handler of session/prompt was stopped by the end of a connection: The other one ended.",
        "The handler of _acme/x was stopped by the end of a connection: The other one ended.",
    ]
    assert caplog.records[0].exc_info is not None
    assert isinstance(caplog.records[0].exc_info[1], BaseExceptionGroup)


@pytest.mark.parametrize("code", [*CLASSES, 7, -32099])
async def test_rule_13_a_handler_passes_on_an_error_of_the_peer_as_it_came(
    link: Link, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Gateway(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            try:
                return await self.client.ext_request("_prompt")  # type: ignore[no-any-return]
            except RemoteError as error:
                raise error.as_own_error() from error

    async with serving(link, Gateway) as peer:
        await peer.send(prompt(1))
        error = {"code": code, "message": "m", "data": {"d": [1]}}
        await peer.answer(error=error)
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "error": error}
    assert caplog.records == []
