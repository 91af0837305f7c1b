"""The Python in the protocol reference is right: its calls and handlers exchange its messages.

`make lint` runs mypy on it, in tests/docs/page_types.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from acp_bindings.v1 import connect_in_process
from acp_runtime import Options
from codegen.ir import Method
from tests.support.codegen.reference import blocks, messages, pages, schema
from tests.support.docs.blocks import Block

# The group shares the pages.
pytestmark = pytest.mark.xdist_group("reference")


def test_a_paragraph_about_a_value_belongs_to_it() -> None:
    text = pages()["types_sessions.md"]
    assert "- `cancelled`: The turn was cancelled" in text
    assert "\n\n  This stop reason MUST be returned when the client sends a `session/cancel`\n  notification" in text


async def test_the_calls_and_the_handlers_exchange_the_messages(capsys: pytest.CaptureFixture[str]) -> None:
    """One connection calls every method, and each call returns the result on the page."""
    frames: list[dict[str, Any]] = []
    proxies: dict[str, Any] = {}
    agent, client = _handler("MyAgent"), _handler("MyClient")

    def make_agent(proxy: Any) -> Any:
        proxies["client"] = proxy
        return agent()

    options = Options(on_frame=lambda _, line, __: frames.append(json.loads(line)))
    async with connect_in_process(make_agent, lambda _: client(), options=options) as proxies["agent"]:
        for method, role, call in _calls():
            returned = await call(proxies[role])
            request, *responses = [json.loads(block.text) for block in _on_page_of(method, messages())]
            assert [json.loads(returned.model_dump_json()) for _ in responses] == [
                response["result"] for response in responses
            ]
            assert _without_id(request) in map(_without_id, frames), method.wire
            _check_capability(method, proxies)
    notifications = [role for method in schema().methods if not method.result for role in method.handled_by]
    assert len(capsys.readouterr().out.splitlines()) == len(notifications), "each handler of a notification prints it"


def _check_capability(method: Method, proxies: dict[str, Any]) -> None:
    """Evaluate the expression with which a page says how to ask for the capability."""
    match = re.search(r"asks `(.+?)`", pages()[f"{method.constant.lower()}.md"])
    assert (match is not None) == (method.capability is not None)
    if match:
        assert eval(match[1], dict(proxies)) is True


def _calls() -> Iterator[tuple[Method, str, Callable[[Any], Any]]]:
    """Yield the calls, in an order in which a connection allows them."""
    for method in sorted(schema().methods, key=_rank):
        results = [_names(block) for block in _on_page_of(method, blocks("python"))]
        calls = [names["call"] for names in results if "call" in names]
        assert len(calls) == len(method.handled_by)
        for call, role in zip(calls, method.handled_by, strict=True):
            yield method, role, call


def _rank(method: Method) -> int:
    facts = method.facts
    return 0 if "opens" in facts else 1 if "creates" in facts else 3 if "ends" in facts else 2


def _handler(name: str) -> type[Any]:
    """Return a class with the handlers of all pages."""
    classes = [value for _, block in blocks("python") if (value := _names(block).get(name))]
    assert classes
    return type(name, tuple(classes), {})


def _on_page_of(method: Method, blocks: list[tuple[str, Block]]) -> list[Block]:
    return [block for page, block in blocks if page == f"{method.constant.lower()}.md"]


def _names(block: Block) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": block.heading}
    exec(compile(block.text, block.heading, "exec"), names)
    return names


def _without_id(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "id"}
