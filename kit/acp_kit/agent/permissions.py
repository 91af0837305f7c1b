"""Asks the user for permission, and remembers the decisions for the rest of the session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from acp_bindings import v1
from acp_kit.agent.errors import TurnCancelled
from acp_kit.common.profiles import convert, like

_NAMES: Mapping[v1.PermissionOptionKind, str] = {
    "allow_once": "Allow",
    "allow_always": "Always allow",
    "reject_once": "Reject",
    "reject_always": "Always reject",
}
_ALLOWING = ("allow_once", "allow_always")
_LASTING = ("allow_always", "reject_always")


@dataclass(frozen=True)
class Decision:
    """The user's decision about a tool call.

    Attributes:
        allowed: whether the tool may run. An option of a kind that this version doesn't know allows nothing.
        option_id: the id of the chosen option; None if an earlier choice was remembered.
    """

    allowed: bool
    option_id: str | None


class PermissionMemory(dict[str, bool]):
    """The decisions that hold for the rest of a session ("always"): whether each tool is allowed.

    Each session has its own. Show or store its `items`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def remember(self, tool: str, *, allowed: bool) -> None:
        """Allow or reject a tool for the rest of the session."""
        self[tool] = allowed

    def lock_for(self, tool: str | None) -> asyncio.Lock:
        """Return the lock to hold while the user is asked about a tool.

        So an answer for "always" also holds for parallel calls of the tool.
        """
        return asyncio.Lock() if tool is None else self._locks.setdefault(tool, asyncio.Lock())

    def forget(self, tool: str | None = None) -> None:
        """Forget the decision about a tool, or all decisions, so that the user is asked again."""
        if tool is None:
            self.clear()
        else:
            self.pop(tool, None)


def default_options(client: v1.RemoteClient) -> list[v1.PermissionOption]:
    """Return the four options of the protocol: allow or reject, once or always."""
    option = like(client, v1.PermissionOption)
    return [option(option_id=kind, name=name, kind=kind) for kind, name in _NAMES.items()]


async def ask(
    client: v1.RemoteClient,
    session_id: str,
    tool_call: v1.ToolCallUpdate,
    *,
    tool: str | None,
    memory: PermissionMemory,
    options: Sequence[v1.PermissionOption] | None = None,
) -> Decision:
    """Ask the user whether a tool may run, unless they have decided for the whole session.

    Args:
        client: the client that asks the user.
        session_id: the session of the tool call.
        tool_call: the tool call as the user should see it.
        tool: what an answer for "always" is remembered for, such as the tool's name. Questions about one tool are asked
            one after the other. If it is None, nothing is remembered.
        memory: the decisions of the session.
        options: what the user can choose from; by default allow and reject, once and always.

    Raises:
        TurnCancelled: if the user cancelled the turn, or closed the dialog without an answer.
        ValueError: if two options have the same id.
        RemoteError: if the client answers with an error.
    """
    async with memory.lock_for(tool):
        return await ask_with_lock(client, session_id, tool_call, tool=tool, memory=memory, options=options)


async def ask_with_lock(
    client: v1.RemoteClient,
    session_id: str,
    tool_call: v1.ToolCallUpdate,
    *,
    tool: str | None,
    memory: PermissionMemory,
    options: Sequence[v1.PermissionOption] | None,
) -> Decision:
    """Do what `ask` does. The caller holds `memory.lock_for(tool)`."""
    remembered = None if tool is None else memory.get(tool)
    if remembered is not None:
        return Decision(remembered, None)
    offered = default_options(client) if options is None else [convert(client, option) for option in options]
    options_by_id: dict[str, v1.PermissionOption] = {}
    for option in offered:
        if option.option_id in options_by_id:
            raise ValueError(f"Two options have the id {option.option_id!r}. Give each option its own id.")
        options_by_id[option.option_id] = option
    response = await client.session_request_permission(session_id=session_id, tool_call=tool_call, options=offered)
    if response.outcome.outcome == "cancelled":
        raise TurnCancelled
    option_id = response.outcome.option_id
    chosen = options_by_id.get(option_id)
    kind = None if chosen is None else chosen.kind  # an option that was not offered allows nothing
    if kind in _LASTING and tool is not None:
        memory.remember(tool, allowed=kind in _ALLOWING)
    return Decision(kind in _ALLOWING, option_id)
