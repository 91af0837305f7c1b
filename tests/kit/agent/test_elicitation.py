"""An agent asks its user with a form or an address, and gets checked values, or knows what else the user did."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, RootModel, SecretStr

from acp_kit.agent.forms import form_schema, read_values
from acp_kit.client import ClientSession
from tests.support.kit.turn_agent import FORMS, Asked, Order, Size, act, opened


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


@asynccontextmanager
async def with_forms(folder: Path, user: User) -> AsyncIterator[ClientSession]:
    async with opened(folder, lambda agent: Asked(agent, fill_in=user.answer)) as session:
        yield session


async def test_a_model_is_shown_as_a_form_and_returned_with_the_values(tmp_path: Path) -> None:
    values = {"name": "Ada", "size": "large", "sugar": 2, "tip": 1.5, "day": "2026-01-02", "extras": ["cream"]}
    user = User(values)
    async with with_forms(tmp_path, user) as session:
        found = await session.ask(act("elicit", "order", tool_call_id="call"))
    assert found == f"accept {Order.model_validate(values)!r}"
    (request,) = user.asked
    assert (request.message, request.session_id, request.tool_call_id) == ("Please choose.", session.id, "call")
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


async def test_a_json_schema_gives_a_dict(tmp_path: Path) -> None:
    values = {"name": "ada", "to-go": True, "size": "l", "cups": 2, "tip": 3, "extras": ["c"]}
    async with with_forms(tmp_path, User(values, {"name": "ada"})) as session:
        assert await session.ask(act("elicit", "schema")) == f"accept {read_values(FORMS['schema'], values)!r}"
        assert await session.ask(act("elicit", "schema")) == "accept {'name': 'ada'}"


async def test_the_user_may_decline_or_cancel(tmp_path: Path) -> None:
    async with with_forms(tmp_path, User("decline", "cancel")) as session:
        assert await session.ask(act("elicit", "order")) == "decline None"
        assert await session.ask(act("elicit", "order")) == "cancel None"


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
async def test_values_that_do_not_fit_the_form_are_refused(
    form: str, values: dict[str, Any], field: str, tmp_path: Path
) -> None:
    async with with_forms(tmp_path, User(values)) as session:
        found = await session.ask(act("elicit", form))
        assert found.startswith(f"InvalidResponse: The response to elicitation/create is invalid: {field}")


@pytest.mark.parametrize(
    "answer", [RuntimeError("no window"), asyncio.CancelledError(), {"name": object()}, 5, "accept"]
)
async def test_a_callback_that_fails_answers_cancel(answer: Any, tmp_path: Path) -> None:
    async with with_forms(tmp_path, User(answer)) as session:
        assert await session.ask(act("elicit", "order")) == "cancel None"


async def test_a_field_that_the_user_left_empty_may_be_none(tmp_path: Path) -> None:
    async with with_forms(tmp_path, User({"name": "Ada", "size": "large", "day": None})) as session:
        assert (await session.ask(act("elicit", "order"))).startswith("accept Order(name='Ada'")


async def test_a_client_is_asked_only_for_what_it_advertises(tmp_path: Path) -> None:
    user = User({"name": "Ada", "size": "small"}, "accept")
    async with with_forms(tmp_path, user) as session:
        assert "clientCapabilities.elicitation.url" in await session.ask(act("elicit_url", "https://example.com"))
    async with opened(tmp_path, lambda agent: Asked(agent, open_url=user.answer)) as session:
        assert "clientCapabilities.elicitation.form" in await session.ask(act("elicit", "order"))
    async with opened(tmp_path) as session:
        assert "CapabilityError" in await session.ask(act("elicit", "order"))
    assert user.asked == []


async def test_an_address_is_opened_and_completed(tmp_path: Path) -> None:
    user = User("accept", "decline", "cancel")
    async with opened(
        tmp_path, lambda agent: Asked(agent, open_url=user.answer, on_complete=user.completed.append)
    ) as session:
        answers = [await session.ask(act("elicit_url", "https://example.com/login")) for _ in range(3)]
    assert answers == ["accept", "decline", "cancel"]
    assert user.completed == ["login"] * 3
    assert (user.asked[0].url, user.asked[0].message) == ("https://example.com/login", "Please log in.")


async def test_a_mode_that_the_client_does_not_know_is_refused(tmp_path: Path) -> None:
    async with with_forms(tmp_path, User()) as session:
        assert "doesn't support the mode '_song'" in await session.ask(act("elicit_otherwise", "_song"))


async def test_a_cancelled_turn_closes_the_form(tmp_path: Path) -> None:
    form_schema, closed = asyncio.Event(), asyncio.Event()

    async def fill_in(request: Any) -> Any:
        form_schema.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with opened(tmp_path, lambda agent: Asked(agent, fill_in=fill_in)) as session:
        async with session.prompt(act("elicit", "order")) as turn:
            await form_schema.wait()
        await closed.wait()
        assert turn.stop_reason == "cancelled"


class Unusual(BaseModel):
    """Fields that JSON Schema writes in ways that forms don't have."""

    color: Size | None = Field(default=None, description="Of the cup")
    sizes: list[Size] = []
    only: Literal["this"] = Field(alias="only-one")
    since: datetime | None = None


def test_references_null_and_constants_are_written_as_forms_have_them() -> None:
    found = form_schema(Unusual)
    assert found.model_dump()["properties"] == {
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
    "form", [Folder, RootModel[list[str]], {"type": "array", "items": {"enum": ["a"]}}, {"type": None}]
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
