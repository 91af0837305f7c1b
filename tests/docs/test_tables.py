"""The guides have every option with its default, every error with its code, and the defaults of arguments."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from inspect import signature
from typing import Any

import pytest

from acp_bindings.v1 import methods
from acp_kit.agent import McpServers
from acp_kit.client import ClientSession, Supervised
from acp_kit.testing import connect
from acp_runtime import Options
from acp_runtime.stubs.facts import Needs
from codegen.data.facts_file import METHODS_TOML
from codegen.upgrade.data_files import find_unconfirmed
from tests.support.docs.blocks import DOCS

_ROW = re.compile(r"^\| `(\w+)` \|(.*?)\| ", re.MULTILINE)
# Errors whose class has no code of its own.
_CODES = {"RequestError": "any", "RemoteError": "any", "MethodNotFound": "-32601"}


def rows(page: str) -> list[tuple[str, str]]:
    """Return the first two cells of the rows that begin with a name."""
    matches = _ROW.findall((DOCS / "guides" / page).read_text("utf-8"))
    return [(name, cell.strip()) for name, cell in matches]


def errors_of(module: str) -> dict[str, Any]:
    """Return the public errors of a module by their names."""
    loaded = import_module(module)
    public = {name: getattr(loaded, name) for name in getattr(loaded, "__all__", dir(loaded))}
    return {
        name: definition
        for name, definition in public.items()
        if isinstance(definition, type)
        and issubclass(definition, BaseException)
        and definition.__module__.startswith(module)
    }


def shown(option: str, default: object) -> str:
    """Return a default as the page shows it."""
    if isinstance(default, float):
        return f"{default:g} s"
    if isinstance(default, int) and (option == "stderr_tail" or option.endswith("_bytes")):
        return f"{default >> 20} MiB" if default >= 1 << 20 else f"{default >> 10} KiB"
    if isinstance(default, str):
        return f'`"{default}"`'
    return str(default) if type(default) is int else f"`{default}`"


def test_the_page_of_options_has_every_option_once_with_its_default() -> None:
    assert sorted(rows("options.md")) == sorted(
        (field.name, shown(field.name, field.default)) for field in fields(Options)
    )


@pytest.mark.parametrize(
    ("function", "argument", "page", "sentence"),
    [
        (McpServers, "connect_deadline", "mcp-servers", "within `connect_deadline` ({} seconds)"),
        (ClientSession.prompt, "cancel_deadline", "cancellation-and-timeouts", "(an argument of `prompt`, {} seconds)"),
        (ClientSession.prompt, "cancel_deadline", "environment-and-processes", "of `session.prompt` ({} seconds)"),
        (ClientSession.prompt, "cancel_deadline", "several-agents", "the turn has {} seconds to end"),
        (Supervised, "stable_after", "restarting-agents", "`stable_after` seconds ({} by default)"),
        (Supervised, "reopen_deadline", "restarting-agents", "`reopen_deadline` seconds ({} by default)"),
        (connect, "deadline", "testing", "the `deadline` of `connect`, by default {} seconds"),
    ],
)
def test_the_guides_give_the_default_of_an_argument(function: Any, argument: str, page: str, sentence: str) -> None:
    default = signature(function).parameters[argument].default
    text = " ".join((DOCS / "guides" / f"{page}.md").read_text("utf-8").split())
    assert sentence.format(f"{default:g}") in text


def test_the_page_of_errors_has_every_error_of_the_runtime_with_its_code() -> None:
    on_page, errors = dict(rows("errors.md")), errors_of("acp_runtime")
    expected = {name: _CODES.get(name, str(getattr(error, "default_code", ""))) for name, error in errors.items()}
    assert {name: on_page.get(name) for name in errors} == expected


@pytest.mark.parametrize(
    "module", ["acp_kit.agent", "acp_kit.client", "acp_kit.local.confined", "acp_kit.content", "acp_kit.history"]
)
def test_the_page_of_errors_has_every_error_of_the_kit_with_its_module(module: str) -> None:
    on_page, errors = dict(rows("errors.md")), errors_of(module)
    assert errors
    assert {name: on_page.get(name) for name in errors} == dict.fromkeys(errors, f"`{module}`")


@pytest.mark.parametrize("side", ["agent", "client"])
def test_the_page_of_capabilities_has_every_capability_that_a_method_needs(side: str) -> None:
    """Those that `make upgrade` has proposed are added to the page when they are confirmed."""
    tables = [
        methods.AGENT_REQUESTS,
        methods.AGENT_NOTIFICATIONS,
        methods.CLIENT_REQUESTS,
        methods.CLIENT_NOTIFICATIONS,
    ]
    known = [method for table in tables for method in table.values()]
    facts = [fact for method in known if method.side == side for fact in method.params_facts]
    facts += [fact for method in known if method.side != side for fact in getattr(method, "result_facts", ())]
    needed = {method.capability for method in known if method.side == side}
    needed |= {fact.capability for fact in facts if isinstance(fact, Needs) and not fact.capability.endswith("*")}
    proposed = " ".join(find_unconfirmed(METHODS_TOML.read_text("utf-8")))
    page = (DOCS / "guides" / "capabilities.md").read_text("utf-8")
    on_page = set(re.findall(r"^\| .* \| `([\w.]+)`.* \|$", page, re.MULTILINE))
    listed = {path for path in on_page if path.startswith("client") == (side == "client")}
    assert listed <= needed
    assert [path for path in needed - listed - {None} if f'"{path}"' not in proposed] == []
