"""Methods that would never be called, or couldn't be awaited, are said when their class is made."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import Agent, Client
from acp_runtime import ExtNotification, Model, handles

# Names of the official SDK, misspelt ones, and the handlers that are meant.
AGENT = {
    "load_session": "session_load",
    "new_session": "session_new",
    "list_sessions": "session_list",
    "set_session_mode": "session_set_mode",
    "prompt": "session_prompt",
    "cancel": "session_cancel",
    "initialise": "initialize",
    "sesion_prompt": "session_prompt",
}
CLIENT = {
    "request_permission": "session_request_permission",
    "read_text_file": "fs_read_text_file",
    "create_terminal": "terminal_create",
    "wait_for_terminal_exit": "terminal_wait_for_exit",
    "update": "session_update",
}


async def _method(self: Any, request: Any) -> None:
    """Do nothing."""


def _made(base: type, **methods: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        type("Mine", (base,), methods)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("base", "name", "meant"),
    [(base, *pair) for base, names in ((Agent, AGENT), (Client, CLIENT)) for pair in names.items()],
)
def test_a_method_with_almost_the_name_of_a_handler_is_a_warning(base: type, name: str, meant: str) -> None:
    assert _made(base, **{name: _method}) == [f"Mine.{name} handles no message. Did you mean `{meant}`?"]


@pytest.mark.parametrize("name", ["prompt", "sesion_prompt"])
def test_a_helper_beside_the_handler_is_no_warning(name: str) -> None:
    assert _made(Agent, **{name: _method, "session_prompt": _method}) == []
    parent = type("Parent", (Agent,), {"session_prompt": _method})
    assert _made(parent, **{name: _method}) == []


@pytest.mark.parametrize(
    "name", ["run", "_prompt", "__init__", "models", "on_connect", "tool_call", "ext_request", "load", "close"]
)
def test_other_methods_are_no_warning(name: str) -> None:
    assert _made(Agent, **{name: _method}) == []


def test_a_method_without_arguments_is_no_warning() -> None:
    async def method(self: Any) -> None:
        """Do nothing."""

    assert _made(Agent, close=method, list_sessions=method) == []


def test_a_handler_that_is_not_async_is_a_warning() -> None:
    def session_cancel(self: Any, notification: Any) -> None:
        """Do nothing."""

    assert _made(Agent, session_cancel=session_cancel) == [
        "Mine.session_cancel is not `async def`, so its result can't be awaited."
    ]


def test_a_decorated_handler_and_that_of_an_extension_are_no_warning() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any) -> Any:
            return function(*args)

        return call

    class Params(Model):
        """No fields."""

    handled = handles(ExtNotification("_mine/cancel", Params))(_copy())
    assert _made(Agent, session_cancel=logged(_method), cancel=handled) == []


def _copy() -> Any:
    async def method(self: Any, params: Any) -> None:
        """Do nothing."""

    return method


def test_the_warning_names_the_line_of_the_class() -> None:
    with pytest.warns(UserWarning, match="load_session") as caught:

        class Mine(Agent):
            async def load_session(self, request: Any) -> None:
                """Do nothing."""

    assert Path(caught[0].filename) == Path(__file__)
    assert Mine
