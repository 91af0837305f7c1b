"""A client sends only values that fit the form, opens only addresses of the web, and knows which of them are open."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings import v1, v1_unstable
from acp_kit.client import Elicitations, form_defaults, form_problems
from acp_runtime import InvalidParams

FIELDS: dict[str, Any] = {
    "name": {"type": "string", "minLength": 2, "default": "Ada"},
    "size": {"type": "string", "enum": ["s", "l"]},
    "cups": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
    "tip": {"type": "number"},
    "to_go": {"type": "boolean", "default": False},
    "extras": {"type": "array", "items": {"type": "string", "enum": ["cream"]}, "maxItems": 1, "default": []},
    "colour": {"type": "_colour", "default": "red"},
    "code": {"type": "string", "pattern": "(?=a)"},
}
FORM = {"type": "object", "properties": FIELDS, "required": ["size"]}


def form_of(profile: Any) -> Any:
    return profile.ElicitationSchema.model_validate(FORM)


async def sent(values: Any, profile: Any = v1) -> Any:
    """Return the answer to the form."""

    async def fill_in(request: Any) -> Any:
        return values

    request = profile.CreateElicitationRequestFormSession(
        session_id="s", message="Please choose.", requested_schema=form_of(profile)
    )
    return await Elicitations(fill_in=fill_in).elicitation_create(request)


@pytest.mark.parametrize("profile", [v1, v1_unstable])
async def test_values_are_sent_as_the_form_wants_them(profile: Any) -> None:
    entered = {"size": "l", "cups": "3", "tip": "1.5", "to_go": "true", "extras": ["cream"], "name": None}
    answer = await sent({**entered, "colour": "red", "code": "xyz", "unknown": 1}, profile)
    assert isinstance(answer, profile.CreateElicitationResponseAccept)


async def test_values_that_are_no_fields_are_not_sent() -> None:
    answer = await sent({"size": "l", "cups": "3", "tip": "1.5", "to_go": "true", "code": "xyz", "unknown": 1})
    assert answer.content == {"size": "l", "cups": 3, "tip": 1.5, "to_go": True, "code": "xyz"}


PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "size": ({}, "Field required"),
    "name": ({"size": "s", "name": "A"}, "String should have at least 2 characters"),
    "cups": ({"size": "s", "cups": 0}, "Input should be greater than or equal to 1"),
    "tip": ({"size": "s", "tip": "some"}, "Input should be a valid number"),
    "extras": ({"size": "s", "extras": ["cream", "cream"]}, "List should have at most 1 item"),
}


@pytest.mark.parametrize("profile", [v1, v1_unstable])
@pytest.mark.parametrize("field", PROBLEMS)
async def test_values_that_do_not_fit_the_form_are_named_and_not_sent(
    field: str, profile: Any, caplog: pytest.LogCaptureFixture
) -> None:
    values, problem = PROBLEMS[field]
    problems = form_problems(form_of(profile), values)
    assert [*problems] == [field]
    assert problems[field].startswith(problem)
    assert (await sent(values, profile)).action == "cancel"
    assert f"'{field}': '{problem}" in caplog.text


@pytest.mark.parametrize("profile", [v1, v1_unstable])
def test_a_form_begins_with_its_defaults(profile: Any) -> None:
    defaults = form_defaults(form_of(profile))
    assert defaults == {"name": "Ada", "cups": 2, "to_go": False, "extras": []}
    assert form_problems(form_of(profile), {**defaults, "size": "s"}) == {}


class Browser:
    """Asks the user about addresses, with these answers, and keeps the opened and completed ones."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.shown: list[str] = []
        self.completed: list[str] = []
        self.elicitations = Elicitations(open_url=self.open_url, on_complete=self.completed.append)

    async def open_url(self, request: v1.CreateElicitationRequestUrl) -> Any:
        self.shown.append(request.url)
        answer = self.answers.pop(0)
        return await answer if asyncio.iscoroutine(answer) else answer

    async def ask(self, id: str, url: str = "https://example.com") -> str:
        request = v1.CreateElicitationRequestUrlSession(session_id="s", message="Log in.", url=url, elicitation_id=id)
        return (await self.elicitations.elicitation_create(request)).action

    async def complete(self, id: str) -> None:
        await self.elicitations.elicitation_complete(v1.CompleteElicitationNotification(elicitation_id=id))


async def test_only_an_open_address_is_completed_and_only_once() -> None:
    browser = Browser("accept", "decline", "cancel", RuntimeError("no window"))
    await browser.complete("1")
    actions = [await browser.ask(id) for id in "1234"]
    assert actions == ["accept", "decline", "cancel", "cancel"]
    for id in "12341":
        await browser.complete(id)
    assert browser.completed == ["1"]


async def test_an_address_may_be_completed_before_the_dialog_is_closed() -> None:
    may_close = asyncio.Event()

    async def close() -> str:
        await may_close.wait()
        return "accept"

    browser = Browser(close())
    asking = asyncio.create_task(browser.ask("1"))
    while not browser.shown:
        await asyncio.sleep(0)
    await browser.complete("1")
    may_close.set()
    assert await asking == "accept"
    await browser.complete("1")
    assert browser.completed == ["1"]


@pytest.mark.parametrize(
    "url", ["https://example.com/login?id=1#a", "HTTPS://example.com", "http://localhost:8000/", "http://[::1]/x@y"]
)
async def test_an_address_of_the_web_is_shown_as_it_is(url: str) -> None:
    browser = Browser("accept")
    assert await browser.ask("1", url) == "accept"
    assert browser.shown == [url]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "java\nscript:alert(1)",
        " https://example.com",
        "file:///etc/passwd",
        "vscode://x/y",
        "https:example.com",
        "https://",
        "https://example.com@evil.com/",
        "https://evil.com\\@example.com/",
        "https://example.com/\u202egnp.exe",
        "https://example.com/\x1b[2J",
        "https://example.com/a b",
        "",
    ],
)
async def test_another_address_is_refused_and_not_shown(url: str) -> None:
    browser = Browser("accept")
    with pytest.raises(InvalidParams, match="only https and http addresses"):
        await browser.ask("1", url)
    await browser.complete("1")
    assert (browser.shown, browser.completed) == ([], [])
