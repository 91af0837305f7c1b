"""Runs calls and handlers. The program is connected in memory with one that is right for the bindings.

That one opens the connection, so that every capability is advertised. The calls share a connection, but one that fails
is repeated on a connection of its own, so that none fails because of another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from acp_runtime import Options
from codegen.compatibility.run.functions import describe
from codegen.compatibility.run.loaded import Loaded, Step

ROLES = ("agent", "client")
_SECONDS = 5.0
# A notification that the handler's program doesn't know is only waited for because the handler may have an older name.
_SECONDS_IF_UNKNOWN = 0.3
# Errors of handlers are part of the answer, so that they can be reported.
_OPTIONS = Options(disclose_errors=True)


class Link:
    """A connection between the caller of a role's methods and their handler.

    Args:
        caller: the program that calls.
        handler: the program that handles.
        role: the role of the handler.
        new: the program that opens the connection: one of them.
    """

    def __init__(self, caller: Loaded, handler: Loaded, role: str, new: Loaded) -> None:
        self.caller = caller
        self.role = role
        self.received: list[str] = []
        self._handler = handler
        self._new = new
        self._handled = asyncio.Event()

    async def error(self, step: Step, remote: Any) -> str:
        """Call a method, wait until a handler was called, and return the error, if any."""
        self.received.clear()
        self._handled.clear()
        is_known = step["of"] in self._handler.plan["handlers"][self.role]
        try:
            async with asyncio.timeout(_SECONDS if is_known else _SECONDS_IF_UNKNOWN):
                await self.caller.call(step, remote)
                await self._handled.wait()
        except Exception as error:
            return describe(error)
        return ""

    @asynccontextmanager
    async def connected(self, *, opened: bool = True) -> AsyncGenerator[Any]:
        """Connect the programs, and yield the proxy for the handler. `opened`: also open the connection."""
        codes = {self.role: self._handler, ROLES[1 - ROLES.index(self.role)]: self.caller}
        for code in codes.values():
            code.module.ANSWER = partial(self._answer, code)
        agent = _handler_class(codes["agent"], "agent", self._new if opened else None)
        client = _handler_class(codes["client"], "client", None)
        remotes: dict[str, Any] = {}

        def create_agent(remote: Any) -> Any:
            remotes["client"] = remote
            return agent()

        def create_client(_: Any) -> Any:
            return client()

        async with self._new.module.ACP.connect_in_process(create_agent, create_client, options=_OPTIONS) as remote:
            remotes["agent"] = remote
            if opened:
                await self._new.call(_opening(self._new), remote)
            yield remotes[self.role]

    def _answer(self, code: Loaded, role: str, method: str, _: Any) -> Any:
        """Return the result of a handler, and record that it was called."""
        self.received.append(method)
        self._handled.set()
        result = code.plan["handlers"][role][method]["result"]
        return result and code.given(result)


async def run_calls(old: Loaded, new: Loaded) -> dict[str, str]:
    """Run the calls of the old program, and return the errors of those that fail, by name."""
    found = [each for role in ROLES for each in await _all_calls(Link(old, new, role, new), new)]
    return {step["name"]: error for step, error, _ in found if error}


async def run_handlers(old: Loaded, new: Loaded) -> dict[str, str]:
    """Call the handlers of the old program, and return the errors of those that fail, by class and name."""
    failed: dict[str, str] = {}
    for role in ROLES:
        called: set[str] = set()
        errors: dict[str, str] = {}
        for step, error, received in await _all_calls(Link(new, old, role, new), new):
            if error:
                errors |= dict.fromkeys((step["of"], *received), error)
            called.update(received)
        for method, handler in old.plan["handlers"][role].items():
            if method in errors or method not in called:
                name = handler["name"]
                failed[f"My{role.capitalize()}.{name}"] = f'"{name}": {errors.get(method, "It is never called")}'
    return failed


async def _all_calls(link: Link, new: Loaded) -> list[tuple[Step, str, list[str]]]:
    """Run all calls of a program, and return each with its error and with the methods that were handled meanwhile."""
    found: list[tuple[Step, str, list[str]]] = []
    alone: list[Step] = []
    async with link.connected() as remote:
        for step in link.caller.calls(link.role):
            if step["of"] in new.plan["opens"] or await link.error(step, remote):
                alone.append(step)
            else:
                found.append((step, "", list(link.received)))
    for step in alone:
        async with link.connected(opened=step["of"] not in new.plan["opens"]) as remote:
            found.append((step, await link.error(step, remote), list(link.received)))
    return found


def create_handlers(old: Loaded) -> dict[str, str]:
    """Return why the handlers of the old program can't be created: they lack methods that are required now."""
    missing = {role: getattr(old.module, f"My{role.capitalize()}").__abstractmethods__ for role in ROLES}
    return {
        f"create_{role}": "It doesn't handle " + ", ".join(f'"{name}"' for name in sorted(names))
        for role, names in missing.items()
        if names
    }


def _opening(new: Loaded) -> Step:
    return next(step for step in new.calls("agent") if step["of"] in new.plan["opens"])


def _handler_class(code: Loaded, role: str, opened_by: Loaded | None) -> Any:
    """Return a class that handles what the program's handler does, even if that is abstract now.

    Args:
        code: the program.
        role: the role of the handler.
        opened_by: another program whose handler opens the connection; None if the program's own does.
    """
    name = f"My{role.capitalize()}"
    methods: dict[str, Any] = {}
    if opened_by is not None:
        opening = opened_by.plan["handlers"][role][_opening(opened_by)["of"]]["name"]
        methods[opening] = getattr(getattr(opened_by.module, name), opening)
    made: Any = type(name, (getattr(code.module, name),), methods)
    made.__abstractmethods__ = frozenset[str]()
    return made
