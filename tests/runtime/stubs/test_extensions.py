"""Extension methods are declared and marked; mistakes are refused when the declaration or the class is made."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from acp_bindings.v1 import RemoteClient, connect_in_process, methods as v1
from acp_runtime import ExtNotification, ExtRequest, MethodNotFound, Model, handles
from tests.support.runtime.peer import PlainAgent, PlainClient


class Text(Model):
    text: str


PING = ExtRequest("_acme/ping", Text, Text)
PONG = ExtRequest("_acme/pong", Text, Text)
LOG = ExtNotification("_acme/log", Text)


class Pinged(PlainAgent):
    """Answers with the name of the class that handles."""

    @handles(PING)
    async def ping(self, params: Text) -> Text:
        return Text(text=f"Pinged {params.text}")


async def ping(factory: Callable[[RemoteClient], Any], method: ExtRequest[Text, Text] = PING) -> str:
    """Call a method of an agent and give the text of its result."""
    async with connect_in_process(factory, PlainClient) as agent:
        return (await agent.call(method, Text(text="a"))).text


async def test_an_override_needs_no_decorator() -> None:
    class Sub(Pinged):
        async def ping(self, params: Text) -> Text:
            return Text(text=f"Sub of {(await super().ping(params)).text}")

    class SubOfSub(Sub):
        async def ping(self, params: Text) -> Text:
            return Text(text=f"SubOfSub of {(await super().ping(params)).text}")

    assert await ping(Sub) == "Sub of Pinged a"
    assert await ping(SubOfSub) == "SubOfSub of Sub of Pinged a"
    assert await ping(Pinged) == "Pinged a"


def test_the_keywords_of_a_handler_class_reach_its_other_bases() -> None:
    class Titled:
        def __init_subclass__(cls, *, title: str) -> None:
            titles.append(title)

    titles: list[str] = []
    type("Mine", (PlainAgent, Titled), {}, title="mine")
    assert titles == ["mine"]


async def test_an_override_with_another_mark_handles_the_other_method_instead() -> None:
    class Sub(Pinged):
        @handles(PONG)
        async def ping(self, params: Text) -> Text:
            return Text(text="Sub")

    assert await ping(Sub, PONG) == "Sub"
    with pytest.raises(MethodNotFound):
        await ping(Sub)


async def test_a_decorator_above_or_below_keeps_the_mark() -> None:
    def logged(function: Any) -> Any:
        @functools.wraps(function)
        async def wrapper(self: Any, params: Text) -> Text:
            result: Text = await function(self, Text(text=f"logged {params.text}"))
            return result

        return wrapper

    class Logged(PlainAgent):
        @logged
        @handles(PING)
        async def ping(self, params: Text) -> Text:
            return params

        @handles(PONG)
        @logged
        async def pong(self, params: Text) -> Text:
            return params

    assert await ping(Logged) == await ping(Logged, PONG) == "logged a"


async def test_handlers_of_both_roles_handle_the_same_declaration() -> None:
    received: list[str] = []

    class Agent(PlainAgent):
        @handles(LOG)
        async def log(self, params: Text) -> None:
            received.append(f"agent {params.text}")
            await self.client.notify(LOG, Text(text="back"))

        @handles(PING)
        async def ping(self, params: Text) -> Text:
            return await self.client.call(PING, params)

    class Logging(PlainClient):
        @handles(LOG)
        async def log(self, params: Text) -> None:
            received.append(f"client {params.text}")

        @handles(PING)
        async def ping(self, params: Text) -> Text:
            return Text(text=f"client {params.text}")

    async with connect_in_process(Agent, Logging) as agent:
        await agent.notify(LOG, Text(text="there"))
        assert (await agent.call(PING, Text(text="a"))).text == "client a"
    assert sorted(received) == ["agent there", "client back"]


def test_two_methods_for_one_name_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Twice\.two can't handle .* because one handles a declaration"):

        class Twice(PlainAgent):
            @handles(PING)
            async def one(self, params: Text) -> Text:
                return params

            @handles(ExtRequest("_acme/ping", Text, Text))
            async def two(self, params: Text) -> Text:
                return params


@pytest.mark.parametrize("hook", ["ext_request", "ext_notification", "invalid_notification"])
def test_a_method_with_another_purpose_is_refused(hook: str) -> None:
    @handles(PING)
    async def ping(self: object, params: Text) -> Text:
        return params

    with pytest.raises(TypeError, match=rf"Mine\.{hook} can't handle '_acme/ping', because it handles other messages"):
        type("Mine", (PlainAgent,), {hook: ping})


@pytest.mark.parametrize("wire", ["session/new", "session/cancel", "$/cancel_request"])
def test_a_name_of_the_schema_is_refused(wire: str) -> None:
    with pytest.raises(TypeError, match=r"Wrong.other can't handle '.*', because it is a method of the schema"):

        class Wrong(PlainAgent):
            @handles(ExtRequest(wire, Text, Text, unprefixed=True))
            async def other(self, params: Text) -> Text:
                return params


def test_a_name_that_only_another_profile_or_role_has_is_allowed() -> None:
    class Proxying(PlainAgent):
        @handles(ExtRequest("fs/read_text_file", Text, Text, unprefixed=True))
        async def read(self, params: Text) -> Text:
            return params

        @handles(ExtRequest("document/didOpen", Text, Text, unprefixed=True))
        async def opened(self, params: Text) -> Text:
            return params

    assert "fs/read_text_file" not in v1.AGENT_REQUESTS
    assert issubclass(Proxying, PlainAgent)


def test_a_method_of_the_schema_can_not_be_marked() -> None:
    with pytest.raises(TypeError, match=r"Wrong.session_prompt can't handle '_acme/ping', because it handles"):

        class Wrong(PlainAgent):
            @handles(PING)
            async def session_prompt(self, params: Any, /) -> Any:
                return params


@pytest.mark.parametrize("declare", [lambda w: ExtRequest(w, Text, Text), lambda w: ExtNotification(w, Text)])
@pytest.mark.parametrize("wire", ["acme/ping", "$/ping", ""])
def test_a_name_without_underscore_is_refused(declare: Callable[[str], Any], wire: str) -> None:
    with pytest.raises(ValueError, match=r"begins with an underscore.*unprefixed=True"):
        declare(wire)


def test_an_empty_name_is_refused_although_it_may_be_unprefixed() -> None:
    with pytest.raises(ValueError, match="begins with an underscore"):
        ExtRequest("", Text, Text, unprefixed=True)


@pytest.mark.parametrize("capability", ["_meta.ping", (), ["_meta"], ("_meta", 1)], ids=repr)
def test_a_capability_is_a_tuple_of_keys(capability: Any) -> None:
    with pytest.raises(TypeError, match="'_acme/ping' is a path"):
        ExtRequest("_acme/ping", Text, Text, capability=capability)


@pytest.mark.parametrize("what", ["_acme/ping", Text, v1.SESSION_PROMPT], ids=repr)
def test_handles_takes_extension_methods_only(what: Any) -> None:
    with pytest.raises(TypeError, match="takes an ExtRequest or an ExtNotification"):
        handles(what)


def test_only_functions_can_be_marked() -> None:
    with pytest.raises(TypeError, match="marks methods, not a property"):
        handles(PING)(property(lambda self: None))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@dataclass
class NoModel:
    text: str


@pytest.mark.parametrize("wrong", [NoModel, dict[str, Any], Text | None, None, Text(text="a"), "Text"], ids=repr)
def test_params_and_results_are_pydantic_models(wrong: Any) -> None:
    for part, declare in {
        "params": lambda: ExtRequest("_acme/ping", wrong, Text),
        "result": lambda: ExtRequest("_acme/ping", Text, wrong),
    }.items():
        with pytest.raises(TypeError, match=f"The {part} of '_acme/ping' must be a pydantic model.*use ext_request"):
            declare()
    with pytest.raises(TypeError, match="The params of '_acme/log' must be a pydantic model"):
        ExtNotification("_acme/log", wrong)
