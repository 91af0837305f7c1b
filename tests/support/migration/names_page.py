"""Writes docs/moving-names.md, the table of all names of the official SDK."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from acp_migrate.calls import request_class
from acp_migrate.context import Context
from acp_migrate.names import UNSTABLE, Gone, Names, Target, load
from tests.support.paths import ROOT
from tools.third_party import NEXT_PYTHON_SDK, PYTHON_SDK, python_in, python_sdk

PAGE = ROOT / "docs" / "moving-names.md"
_INSPECT = Path(__file__).with_name("inspect_sdk.py")
_INTRODUCTION = f"""\
<!-- Written by `python -m tests.support.migration.names_page` from migrate/acp_migrate/names.toml. Don't edit. -->

# Names of agent-client-protocol

Each public name of `{PYTHON_SDK.replace("==", "` ")} and {NEXT_PYTHON_SDK.partition("==")[2]}, and what it is here.
[Moving from agent-client-protocol](moving.md) explains the differences, and `acp-bindings migrate` replaces the
names. The drafts of `acp.experimental` have the same names with other meanings, and are not replaced.

Names without a module are in `acp_bindings.v1`. Names marked *unstable* are only in `acp_bindings.v1_unstable`.
"""
_CONNECTIONS = ("ClientSideConnection", "AgentSideConnection")
_EXTENSIONS = {"ext_method": "`ext_request`", "ext_notification": "`ext_notification`"}
_METHODS = """\
A handler takes one request, and a proxy (`RemoteAgent`, `RemoteClient`) takes the fields of the request as keywords.
The names of the keywords are the same as before. What was passed as a further keyword is `meta={...}`. The deprecated
names in camel case (`newSession`) mean the same as those below.
"""


@cache
def inspected(requirement: str = PYTHON_SDK) -> dict[str, Any]:
    """Return the public names of the official SDK.

    Raises:
        UnavailableError: it can't be installed.
    """
    command = [str(python_in(python_sdk(requirement))), "-I", str(_INSPECT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def page() -> str:
    """Return the page."""
    return "\n".join(_lines(load(), merged()))


def merged() -> dict[str, Any]:
    """Return the public names of both versions of the official SDK.

    Raises:
        UnavailableError: one can't be installed.
    """
    old, new = inspected(), inspected(NEXT_PYTHON_SDK)
    found = {part: {**new[part], **old[part]} for part in ("agent", "client", *_CONNECTIONS, "helpers")}
    modules = {*old["modules"], *new["modules"]}
    names = {each: [*old["modules"].get(each, ()), *new["modules"].get(each, ())] for each in sorted(modules)}
    return {**found, "modules": {module: sorted({*each}) for module, each in names.items()}}


def _lines(names: Names, sdk: Mapping[str, Any]) -> Iterator[str]:
    where: dict[str, list[str]] = {}
    for module, own in sdk["modules"].items():
        for name in own:
            where.setdefault(name, []).append(module)
    models = {name for name in where if "acp.schema" in where[name]}
    found = {name: names.find(name) for name in where}
    gone = {name: each for name, each in found.items() if isinstance(each, Gone)}
    here = {name: each for name, each in found.items() if isinstance(each, Target)}
    yield _INTRODUCTION
    yield "## Functions and classes\n"
    rest = [name for name in here if name not in models and name not in names.helpers]
    yield from _table(
        ("`acp`", "here", "what is different"), (_row(name, here[name], where[name]) for name in sorted(rest))
    )
    yield "\n## Helper functions\n"
    yield "Version 1.0 has none of them.\n"
    yield from _table(
        ("`acp`", "here"),
        (
            (f"`{name}({', '.join(sdk['helpers'][name])})`", f"`{_expression(names, name)}`")
            for name in sorted(names.helpers)
        ),
    )
    for role, title in (("agent", "Methods of agents"), ("client", "Methods of clients")):
        yield f"\n## {title}\n"
        yield _METHODS if role == "agent" else "As above, for the other side.\n"
        yield from _table(("`acp`", "here", "request", "what is different"), _methods(names, role, sdk))
    yield "\n## Errors\n"
    yield from _table(("`acp`", "here"), _errors(names))
    yield "\n## Models with another name\n"
    other = [name for name in here if name in models and (here[name].name != name or here[name].note)]
    yield from _table(
        ("`acp.schema`", "here", "what is different"), (_row(name, here[name], []) for name in sorted(other))
    )
    yield "\n## Models with the same name\n"
    same = [name for name in here if name in models and name not in other]
    yield ", ".join(f"`{name}`" for name in sorted(same) if here[name].module != UNSTABLE) + ".\n"
    yield "*Unstable*: " + ", ".join(f"`{name}`" for name in sorted(same) if here[name].module == UNSTABLE) + "."
    yield "\n## Names without a counterpart\n"
    yield from _table(("`acp`", "why, and what to do"), _gone(gone))
    yield ""


def _row(name: str, target: Target, modules: Iterable[str]) -> tuple[str, str, str]:
    inner = [each for each in modules if each != "acp"]
    shown = name if not inner or "acp" in modules else f"{inner[0].removeprefix('acp.')}.{name}"
    return f"`{shown}`", _target(target), _sentence(target.note)


def _target(target: Target) -> str:
    if target.module == UNSTABLE:
        return f"`{target.name}` *unstable*"
    return f"`{target.name}`" if target.module == "acp_bindings.v1" else f"`{target.module}.{target.name}`"


def _expression(names: Names, name: str) -> str:
    helper = names.helpers[name]
    text = helper.expression.replace("**_", "...").replace("=_", "=").replace(": _", ": ").replace("[*_", "[*")
    for param, default in helper.defaults.items():
        text = text.replace(f"{param}={param}", f"{param}={default}")
    return text


def _methods(names: Names, role: str, sdk: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    connection = {"agent": "ClientSideConnection", "client": "AgentSideConnection"}[role]
    context = Context(names, None, None, set(), {}, {})  # type: ignore[arg-type]
    for name, params in {**sdk[connection], **sdk[role]}.items():
        method = names.methods[role].get(name)
        request = request_class(context, method) if method else ""
        new = f"`{method.new}`" if method else _EXTENSIONS.get(name, "")
        yield (
            f"`{name}({', '.join(params)})`",
            new,
            f"`{request}`" if request else "",
            _sentence(names.notes.get(name, names.dead.get(name, ""))),
        )


def _errors(names: Names) -> Iterator[tuple[str, str]]:
    for old, new in names.errors.items():
        argument = (
            "method" if new == "MethodNotFound" else 'data={"uri": uri}' if new == "ResourceNotFound" else "data=data"
        )
        yield f"`RequestError.{old}(...)`", f"`acp_runtime.{new}({argument})`"
    yield "`error.to_error_obj()`", "`error.code`, `error.message` and `error.data`"


def _gone(gone: Mapping[str, Gone]) -> Iterator[tuple[str, str]]:
    by_reason: dict[str, list[str]] = {}
    for name, each in sorted(gone.items()):
        by_reason.setdefault(each.why, []).append(name)
    for why, them in by_reason.items():
        yield ", ".join(f"`{name}`" for name in them), _sentence(why)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(each.replace('|', chr(92) + '|') for each in row)} |" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
