"""Asking the user for permission, and remembering what holds for the rest of the session."""

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
    """What the user decided.

    Attributes:
        allowed: whether the tool may run. An option of a kind that this version doesn't know allows nothing.
        option_id: the id of the chosen option; None if an earlier choice was remembered.
    """

    allowed: bool
    option_id: str | None


class PermissionMemory(dict[str, bool]):
    """What the user decided for the rest of a session ("always"): tools, and whether they are allowed.

    It belongs to one session. Its `items` can be shown or kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def remember(self, tool: str, *, allowed: bool) -> None:
        """Decide for the rest of the session."""
        self[tool] = allowed

    def lock_for(self, tool: str | None) -> asyncio.Lock:
        """Return the lock to hold while the user is asked, so that "always" also holds for parallel calls of a tool."""
        return asyncio.Lock() if tool is None else self._locks.setdefault(tool, asyncio.Lock())

    def forget(self, tool: str | None = None) -> None:
        """Forget the decision about a tool, or all decisions. The user is asked again then."""
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
            one after the other. With None, nothing is remembered.
        memory: where it is remembered.
        options: what the user can choose from; without it, allow and reject, once and always.

    Raises:
        TurnCancelled: The user cancelled the turn, or closed the dialog without an answer.
        ValueError: Two options have the same id.
    """
    async with memory.lock_for(tool):
        return await decide(client, session_id, tool_call, tool, memory, options)


async def decide(
    client: v1.RemoteClient,
    session_id: str,
    tool_call: v1.ToolCallUpdate,
    tool: str | None,
    memory: PermissionMemory,
    options: Sequence[v1.PermissionOption] | None,
) -> Decision:
    """Do what `ask` does, for callers that hold `memory.lock_for(tool)`."""
    remembered = None if tool is None else memory.get(tool)
    if remembered is not None:
        return Decision(remembered, None)
    offered = default_options(client) if options is None else [convert(client, option) for option in options]
    for index, option in enumerate(offered):
        if option.option_id in [earlier.option_id for earlier in offered[:index]]:
            raise ValueError(f"Two options have the id {option.option_id!r}")
    response = await client.session_request_permission(session_id=session_id, tool_call=tool_call, options=offered)
    if response.outcome.outcome == "cancelled":
        raise TurnCancelled
    chosen = response.outcome.option_id
    kind = next((option.kind for option in offered if option.option_id == chosen), None)  # None: it was not offered
    if kind in _LASTING and tool is not None:
        memory.remember(tool, allowed=kind in _ALLOWING)
    return Decision(kind in _ALLOWING, chosen)
