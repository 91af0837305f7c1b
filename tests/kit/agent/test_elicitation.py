"""An agent asks its user with a form or an address, and gets checked values, or knows what else the user did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date, datetime
from enum import Enum
from functools import partial
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, RootModel, SecretStr, ValidationError

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import ElicitationHandlers, Elicitations
from acp_kit.common.forms import form_schema, read_values
from acp_kit.testing import ScriptedAgent, connect
from acp_runtime import CapabilityError, InvalidResponse, RequestError
from tests.support.kit.turns import Viewer, result_of


class Size(Enum):
    """A choice."""

    SMALL = "small"
    LARGE = "large"


class Order(BaseModel):
    """What to order."""

    name: str = Field(title="Your name", min_length=2)
    size: Size
    milk: Literal["none", "oat"] = "oat"
    sugar: int = Field(default=0, ge=0, le=3)
    tip: float | None = None
    day: date | None = Field(default=None, description="When you come")
    to_go: bool = False
    extras: list[Literal["cream", "cacao"]] = []


class Exact(BaseModel, extra="forbid"):
    """A form that takes nothing else."""


FORMS: dict[str, Any] = {
    "order": Order,
    "exact": Exact,
    "schema": {
        "type": "object",
        "properties": {
            "to-go": {"type": "boolean"},
            "name": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
            "cups": {"type": "integer", "minimum": 1},
            "tip": {"type": "number", "maximum": 10},
            "extras": {"type": "array", "maxItems": 1, "items": {"anyOf": [{"const": "c", "title": "Cream"}]}},
        },
        "required": ["name"],
    },
}


class User:
    """Answers forms and addresses with the next of `answers`."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.asked: list[Any] = []
        self.completed: list[str] = []

    async def answer(self, request: Any) -> Any:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def client_with_forms(self, agent: v1.RemoteAgent) -> v1.Client:
        return AskingClient(agent, fill_in=self.answer)

    def client_with_addresses(self, agent: v1.RemoteAgent) -> v1.Client:
        return AskingClient(agent, open_url=self.answer, on_complete=self.completed.append)


class UncheckedClient(ElicitationHandlers, Viewer):
    """A client that sends values as they are."""

    def __init__(self, values: dict[str, Any], agent: v1.RemoteAgent) -> None:
        super().__init__(agent)
        self.values = values
        self.elicitations = Elicitations(fill_in=User().answer)

    async def elicitation_create(self, request: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        return v1.CreateElicitationResponseAccept(content=self.values)


class AskingClient(ElicitationHandlers, Viewer):
    """A client that asks its user."""

    def __init__(self, agent: v1.RemoteAgent, **callbacks: Any) -> None:
        super().__init__(agent)
        self.elicitations = Elicitations(**callbacks)


async def show_order(turn: Turn) -> Any:
    return await turn.elicit("Please choose.", Order)


async def elicit(user: User, form: str) -> Any:
    """Show a form to a user in a turn, and return the result, or the exception."""
    return await result_of(lambda turn: turn.elicit("Please choose.", FORMS[form]), user.client_with_forms)


async def elicit_url(client: Callable[[v1.RemoteAgent], v1.Client]) -> Any:
    """Let a user open an address in a turn, and return what they did, or the exception."""

    async def step(turn: Turn) -> Any:
        call = await turn.tool_call("Log in", tool_call_id="call").start()
        url = "https://example.com/login"
        action = await turn.elicit_url("Please log in.", url, elicitation_id="login", call=call)
        await turn.session.client.elicitation_complete(elicitation_id="login")
        return action

    return await result_of(step, client)


async def test_a_model_is_shown_as_a_form_and_returned_with_the_values() -> None:
    values = {"name": "Ada", "size": "large", "sugar": 2, "tip": 1.5, "day": "2026-01-02", "extras": ["cream"]}
    user = User(values)
    session_ids: list[str] = []

    async def step(turn: Turn) -> Any:
        session_ids.append(turn.session.id)
        call = await turn.tool_call("Order", tool_call_id="call").start()
        return await turn.elicit("Please choose.", Order, call=call)

    result = await result_of(step, user.client_with_forms)
    assert (result.action, result.values) == ("accept", Order.model_validate(values))
    (request,) = user.asked
    assert (request.message, request.session_id, request.tool_call_id) == ("Please choose.", *session_ids, "call")
    fields = request.requested_schema.properties
    assert {name: field.type for name, field in fields.items()} == {
        "name": "string",
        "size": "string",
        "milk": "string",
        "sugar": "integer",
        "tip": "number",
        "day": "string",
        "to_go": "boolean",
        "extras": "array",
    }
    assert request.requested_schema.required == ["name", "size"]
    assert (fields["name"].title, fields["name"].min_length) == ("Your name", 2)
    assert (fields["size"].enum, fields["size"].title) == (["small", "large"], None)
    assert (fields["milk"].enum, fields["milk"].default) == (["none", "oat"], "oat")
    assert (fields["sugar"].minimum, fields["sugar"].maximum, fields["sugar"].default) == (0, 3, 0)
    assert (fields["day"].format, fields["day"].description) == ("date", "When you come")
    assert fields["extras"].items.enum == ["cream", "cacao"]


async def test_a_json_schema_gives_a_dict() -> None:
    values = {"name": "ada", "to-go": True, "size": "l", "cups": 2, "tip": 3, "extras": ["c"]}
    user = User(values)
    result = await elicit(user, "schema")
    assert (result.action, result.values) == ("accept", read_values(FORMS["schema"], values))
    assert "tool_call_id" not in user.asked[0].model_fields_set
    assert (await elicit(User({"name": "ada"}), "schema")).values == {"name": "ada"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_the_user_may_decline_or_cancel(action: str) -> None:
    result = await elicit(User(action), "order")
    assert (result.action, result.values) == (action, None)


@pytest.mark.parametrize(
    ("form", "values", "field"),
    [
        ("order", {"size": "large"}, "name: Field required"),
        ("order", {"name": "Ada", "size": "huge"}, "size: "),
        ("order", {"name": "Ada", "size": "small", "sugar": 4}, "sugar: "),
        ("order", {"name": "Ada\ud83d", "size": "small"}, "Error serializing to JSON: UnicodeEncodeError"),
        ("exact", {"\x1b[31m": 1}, "\\x1b[31m: Extra inputs are not permitted"),
        ("schema", {}, "name: "),
        ("schema", {"name": "Ada"}, "name: "),
        ("schema", {"name": "adaada"}, "name: "),
        ("schema", {"name": "ada", "size": "m"}, "size: "),
        ("schema", {"name": "ada", "cups": 0}, "cups: "),
        ("schema", {"name": "ada", "tip": 11.5}, "tip: "),
        ("schema", {"name": "ada", "extras": ["c", "c"]}, "extras: "),
        ("schema", {"name": "ada", "extras": ["d"]}, "extras.0: "),
    ],
)
async def test_values_that_do_not_fit_the_form_are_refused(form: str, values: dict[str, Any], field: str) -> None:
    error = await result_of(lambda turn: turn.elicit("Please choose.", FORMS[form]), partial(UncheckedClient, values))
    assert isinstance(error, InvalidResponse)
    assert str(error).startswith(f"The response to elicitation/create is invalid: {field}")


@pytest.mark.parametrize(
    "answer", [RuntimeError("no window"), asyncio.CancelledError(), {"name": object()}, 5, "accept"]
)
async def test_a_callback_that_fails_answers_cancel(answer: Any) -> None:
    result = await elicit(User(answer), "order")
    assert (result.action, result.values) == ("cancel", None)


async def test_a_field_that_the_user_left_empty_may_be_none() -> None:
    result = await elicit(User({"name": "Ada", "size": "large", "day": None}), "order")
    assert (result.action, result.values.name, result.values.day) == ("accept", "Ada", None)


async def test_a_client_is_asked_only_for_what_it_advertises() -> None:
    user = User({"name": "Ada", "size": "small"}, "accept")
    assert "clientCapabilities.elicitation.url" in str(await elicit_url(user.client_with_forms))
    assert "clientCapabilities.elicitation.form" in str(await result_of(show_order, user.client_with_addresses))
    assert isinstance(await result_of(show_order), CapabilityError)
    assert user.asked == []


async def test_an_address_is_opened_and_completed() -> None:
    user = User("accept", "decline", "cancel")
    answers = [await elicit_url(user.client_with_addresses) for _ in range(3)]
    assert answers == ["accept", "decline", "cancel"]
    assert user.completed == ["login"]
    (asked, *_) = user.asked
    assert (asked.url, asked.message, asked.tool_call_id) == ("https://example.com/login", "Please log in.", "call")


async def test_each_address_has_an_id_of_its_own() -> None:
    async def step(turn: Turn) -> None:
        for _ in range(2):
            await turn.elicit_url("Please log in.", "https://example.com/login")

    user = User("accept", "accept")
    await result_of(step, user.client_with_addresses)
    assert len({request.elicitation_id for request in user.asked}) == 2


async def test_an_action_that_the_kit_does_not_know_has_no_values() -> None:
    class Later(AskingClient):
        async def elicitation_create(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
            return v1.CreateElicitationResponseOther(action="_later", content={"name": "Ada", "size": "small"})

    result = await result_of(show_order, lambda agent: Later(agent, fill_in=User().answer))
    assert (result.action, result.values) == ("_later", None)


async def test_a_mode_that_the_client_does_not_know_is_refused() -> None:
    asked = {"sessionId": "s", "mode": "_song", "message": "Please sing."}
    request = v1.CreateElicitationRequestOtherSession.model_validate(asked)
    with pytest.raises(RequestError, match="doesn't support the mode '_song'"):
        await Elicitations(fill_in=User().answer).elicitation_create(request)


async def test_a_cancelled_turn_closes_the_form() -> None:
    shown, closed = asyncio.Event(), asyncio.Event()

    async def fill_in(request: Any) -> Any:
        shown.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with connect(ScriptedAgent(show_order), lambda agent: AskingClient(agent, fill_in=fill_in)) as session:
        async with session.prompt("go") as turn:
            await shown.wait()
        await closed.wait()
        assert turn.stop_reason == "cancelled"


class Unusual(BaseModel):
    """Fields that JSON Schema writes in ways that forms don't have."""

    color: Size | None = Field(default=None, description="Of the cup")
    sizes: list[Size] = []
    only: Literal["this"] = Field(alias="only-one")
    since: datetime | None = None


def test_references_null_and_constants_are_written_as_forms_have_them() -> None:
    form = form_schema(Unusual)
    assert form.model_dump()["properties"] == {
        "color": {"type": "string", "description": "Of the cup", "enum": ["small", "large"]},
        "sizes": {
            "type": "array",
            "title": "Sizes",
            "default": [],
            "items": {"type": "string", "enum": ["small", "large"]},
        },
        "only-one": {"type": "string", "title": "Only-One", "enum": ["this"]},
        "since": {"type": "string", "title": "Since", "format": "date-time"},
    }
    values = {"color": "small", "sizes": ["large"], "only-one": "this", "since": "2026-01-02T03:04:05Z"}
    model = read_values(Unusual, values)
    assert (model.color, model.sizes, model.only, model.since.year) == (Size.SMALL, [Size.LARGE], "this", 2026)


class Number(Enum):
    ONE = 1


@pytest.mark.parametrize(
    "field", [Order, str | int, list[str], list[Order], dict[str, str], bytes, UUID, SecretStr, Number, None, Callable]
)
def test_a_field_that_a_form_can_not_have_is_refused(field: Any) -> None:
    model = type("Form", (BaseModel,), {"__annotations__": {"field": field}})
    with pytest.raises(ValueError, match="field"):
        form_schema(model)


class Folder(BaseModel):
    """A model that refers to itself."""

    name: str
    parent: Folder | None = None


@pytest.mark.parametrize(
    "form", [Folder, RootModel[list[str]], {"type": "array", "items": {"enum": ["a"]}}, {"type": None}, {"required": 5}]
)
def test_a_schema_that_is_not_a_form_is_refused(form: Any) -> None:
    with pytest.raises(ValueError, match=r"A form must have the type 'object'|not the schema of a form|'parent'"):
        form_schema(form)


def test_a_model_may_wrap_a_form() -> None:
    assert form_schema(RootModel[Order]).properties == form_schema(Order).properties


@pytest.mark.parametrize(
    "field", [{"type": "object"}, {"type": "_colour"}, {}, {"type": "array"}, 5, {"type": "string", "pattern": "(?=a)"}]
)
def test_a_field_of_a_json_schema_that_a_form_can_not_have_is_refused(field: Any) -> None:
    with pytest.raises(ValueError, match="colour"):
        form_schema({"type": "object", "properties": {"colour": field}})


INTEGER: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 4}
NUMBER: dict[str, Any] = {"type": "number", "minimum": 0.5, "maximum": 1.5}
TEXT: dict[str, Any] = {"type": "string", "minLength": 2, "maxLength": 3}
LIST: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "enum": ["a", "b", "c"]},
    "minItems": 1,
    "maxItems": 2,
}


@pytest.mark.parametrize(
    ("field", "allowed", "refused"),
    [
        (INTEGER, [1, 4], [0, 5]),
        (NUMBER, [0.5, 1.5], [0.25, 1.75, float("inf"), float("nan")]),
        (TEXT, ["ab", "abc"], ["a", "abcd"]),
        (LIST, [["a"], ["a", "c"]], [[], ["a", "b", "c"]]),
    ],
    ids=["integer", "number", "text", "list"],
)
def test_values_are_allowed_up_to_the_limits_of_a_field(
    field: dict[str, Any], allowed: list[Any], refused: list[Any]
) -> None:
    form = {"type": "object", "properties": {"x": field}}
    for value in allowed:
        assert read_values(form, {"x": value}) == {"x": value}
    for value in refused:
        with pytest.raises(ValidationError):
            read_values(form, {"x": value})
