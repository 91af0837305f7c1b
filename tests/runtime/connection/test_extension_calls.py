"""Calls and notifications of typed extension methods follow the same rules as the schema's methods."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, PlainSerializer, RootModel, model_validator
from pydantic_core import PydanticSerializationError

from acp_runtime import ExtNotification, ExtRequest, GuardError, InvalidResponse
from tests.runtime.connection.extensions import ECHO, EXAMPLES, KINDS, NOTE, Ours, Theirs
from tests.support.runtime.peer import Link, calling


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_sends_its_params_and_returns_the_result(link: Link, kind: str) -> None:
    example = EXAMPLES[kind]
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.call(ECHO[kind], example))
        sent = await peer.answer(result={"text": "b"})
        assert {name: value for name, value in sent.items() if value is not None} == {"text": "a"}
        result = await call
    assert type(result) is type(example)
    assert result.text == "b"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_notification_sends_its_params(link: Link, kind: str) -> None:
    async with calling(link) as (agent, peer):
        await agent.notify(NOTE[kind], EXAMPLES[kind])
        message = await peer.receive()
    assert (message["method"], message["params"]["text"]) == (f"_acme/note_{kind}", "a")
    assert "id" not in message


async def test_params_of_none_are_left_out(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.ext_request("_acme/ping"))
        request = await peer.receive()
        assert "params" not in request
        await peer.send({"id": request["id"], "result": None})
        assert await call is None
        await agent.ext_notification("_acme/note")
        assert "params" not in await peer.receive()


async def test_params_of_a_subclass_are_sent_as_the_declared_class(link: Link) -> None:
    class Traced(Theirs):
        trace: str = "t"

    async with calling(link) as (agent, peer):
        for text in ("a", "\ud83d"):
            await agent.notify(NOTE["theirs"], Traced(text=text, sessionId="s"))
            assert (await peer.receive())["params"] == {"text": text, "sessionId": "s"}


async def test_a_field_may_have_a_serializer_for_json_alone(link: Link) -> None:
    class Place(BaseModel):
        path: Annotated[object, PlainSerializer(lambda path: "a", when_used="json")]
        text: str | None = None

    async with calling(link) as (agent, peer):
        await agent.notify(ExtNotification("_acme/place", Place), Place(path=object()))
        assert (await peer.receive())["params"] == {"path": "a", "text": None}


async def test_nan_is_not_sent_although_pydantic_would_write_null(link: Link) -> None:
    ratio = ExtNotification("_acme/ratio", RootModel[float])
    async with calling(link) as (agent, peer):
        with pytest.raises(PydanticSerializationError, match="NaN and Infinity are not JSON"):
            await agent.notify(ratio, RootModel[float](float("nan")))
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("result", [{"text": 5}, {}, "text", None], ids=repr)
async def test_rule_9_an_invalid_result_fails_its_call(link: Link, kind: str, result: Any) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.call(ECHO[kind], EXAMPLES[kind]))
        await peer.answer(result=result)
        with pytest.raises(InvalidResponse, match=f"_acme/{kind}"):
            await call
        assert await peer.until_quiet() == []


WRONG_PARAMS: list[tuple[str, Any, type[Exception], str]] = [
    ("ours", {"text": "a"}, TypeError, "_acme/ours takes Ours, not dict"),
    ("ours", Theirs(text="a"), TypeError, "_acme/ours takes Ours, not Theirs"),
    ("ours", None, TypeError, "_acme/ours takes Ours, not NoneType"),
    ("ours", Ours.model_construct(text=5), PydanticSerializationError, "text"),
    ("theirs", {"text": "a"}, TypeError, "_acme/theirs takes Theirs, not dict"),
    ("theirs", Theirs.model_construct(text=5), PydanticSerializationError, "text"),
]


@pytest.mark.parametrize(("kind", "params", "error", "message"), WRONG_PARAMS, ids=str)
async def test_rule_13_params_of_the_wrong_type_raise_and_nothing_is_sent(
    link: Link, kind: str, params: Any, error: type[Exception], message: str
) -> None:
    async with calling(link) as (agent, peer):
        with pytest.raises(error, match=message):
            await agent.call(ECHO[kind], params)
        with pytest.raises(error, match=message.replace("_acme/", "_acme/note_")):
            await agent.notify(NOTE[kind], params)
        assert await peer.until_quiet() == []


async def test_a_call_of_anything_but_a_request_is_refused(link: Link) -> None:
    async with calling(link) as (agent, peer):
        untyped: Any = agent
        for wrong in ("_acme/ours", NOTE["ours"], Ours):
            with pytest.raises(TypeError, match="`call` takes an ExtRequest"):
                await untyped.call(wrong, Ours(text="a"))
        for wrong in ("_acme/note_ours", ECHO["ours"], {"text": "a"}):
            with pytest.raises(TypeError, match="is not the params of any method"):
                await untyped.notify(wrong, Ours(text="a"))
        with pytest.raises(TypeError, match="Expected an ExtRequest or an ExtNotification"):
            agent.supports(untyped)
        assert await peer.until_quiet() == []


async def test_a_name_of_the_schema_can_not_be_called_as_an_extension(link: Link) -> None:
    async with calling(link) as (agent, peer):
        with pytest.raises(ValueError, match="Call `session_new` instead"):
            await agent.call(ExtRequest("session/new", Ours, Ours, unprefixed=True), Ours(text="a"))
        with pytest.raises(ValueError, match="Call `session_cancel` instead"):
            await agent.notify(ExtNotification("session/cancel", Ours, unprefixed=True), Ours(text="a"))
        assert await peer.until_quiet() == []


async def test_rule_9_a_validator_that_raises_another_error_makes_a_result_invalid(link: Link) -> None:
    class Picky(BaseModel):
        @model_validator(mode="before")
        @classmethod
        def _fail(cls, _: Any) -> Any:
            raise LookupError("no such thing")

    picky = ExtRequest("_acme/picky", Ours, Picky)
    async with calling(link) as (agent, peer):
        call = asyncio.create_task(agent.call(picky, Ours(text="a")))
        await peer.answer(result={})
        with pytest.raises(InvalidResponse, match="a validator raised LookupError"):
            await call


@pytest.mark.parametrize("name", ["acme/ping", "session/new", ""])
async def test_plain_json_is_not_sent_to_a_name_without_an_underscore(link: Link, name: str) -> None:
    async with calling(link) as (agent, peer):
        for send in (agent.ext_request, agent.ext_notification):
            with pytest.raises(GuardError, match=f"begins with an underscore, '{name}' doesn't.*unprefixed=True"):
                await send(name, {})
        assert await peer.until_quiet() == []


async def test_a_gateway_without_guards_forwards_methods_of_any_name(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with calling(link, guards="off") as (agent, peer):
        await agent.ext_notification("acme/note", {"n": 1})
        call = asyncio.create_task(agent.ext_request("acme/ping", {"n": 2}))
        assert (await peer.receive())["method"] == "acme/note"
        assert await peer.answer(result={"pong": 2}) == {"n": 2}
        assert await call == {"pong": 2}
    assert caplog.records == []
