"""The registry: which agents there are, and how each is started."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from acp_kit.registry.entries import Entry
from acp_kit.registry.errors import BinaryOnly, InvalidEntry, InvalidRegistry, RegistryUnavailable, UnknownAgent
from acp_kit.registry.launching import Binary, Launch, binary, npx, this_platform, unsafe_argument, uvx


class _Document(BaseModel):
    agents: list[Any]


class Registry:
    """The registry. An entry is checked when it is used, so one that can't be used doesn't affect the others.

    Attributes:
        ids: the ids of the agents, in the registry's order.
        snapshot_date: the date of the snapshot, such as `2026-08-22`, if this is one; None if it is the registry.
    """

    def __init__(self, entries: Mapping[str, Sequence[Any]], snapshot_date: str | None = None) -> None:
        self._entries = entries
        self.ids: Sequence[str] = tuple(entries)
        self.snapshot_date = snapshot_date

    @classmethod
    def parse(cls, document: bytes | str, *, snapshot_date: str | None = None) -> Registry:
        """Read a registry.

        Args:
            document: the JSON text of `registry.json`.
            snapshot_date: the date of the document, if it is a snapshot that has only some of the agents.

        Raises:
            InvalidRegistry: if it isn't a registry.
        """
        try:
            agents = _Document.model_validate_json(document).agents
        except ValidationError as error:
            raise InvalidRegistry(f"The document is no registry of agents: {_reason(error)}") from error
        entries: dict[str, list[Any]] = {}
        for agent in agents:
            match agent:
                case {"id": str(agent_id)}:
                    entries.setdefault(agent_id, []).append(agent)
                case _:
                    continue  # nobody can ask for it
        return cls(entries, snapshot_date)

    def resolve(self, agent_id: str) -> Launch:
        """Return how to start an agent.

        Where it is published for npx and for uvx, the one that is installed is chosen, and else npx.

        Raises:
            UnknownAgent: if the registry has no agent with this id.
            RegistryUnavailable: if this is a snapshot that doesn't have it.
            InvalidEntry: if its entry can't be used.
            BinaryOnly: if it is published neither for npx nor for uvx.
        """
        entry = self._entry(agent_id)
        found = entry.distribution
        launches: list[Launch] = []
        if found.npx is not None:
            launches.append(npx(agent_id, found.npx, entry.version))
        if found.uvx is not None:
            launches.append(uvx(agent_id, found.uvx, entry.version))
        if not launches:
            raise BinaryOnly(agent_id)
        launch = next((each for each in launches if shutil.which(each.command)), launches[0])
        unsafe = unsafe_argument(launch.args)
        if unsafe is not None:
            raise InvalidEntry(agent_id, f"the argument {unsafe!r} can't be passed to {launch.command} on Windows.")
        return launch

    def find_binary(self, agent_id: str, platform: str | None = None) -> Binary:
        """Return the archive of an agent that is published as one. Nothing is downloaded.

        Args:
            agent_id: the id of the agent.
            platform: the platform, such as `linux-x86_64` or `darwin-aarch64`; by default this one.

        Raises:
            UnknownAgent: if the registry has no agent with this id.
            RegistryUnavailable: if this is a snapshot that doesn't have it.
            InvalidEntry: if its entry can't be used, or has no archive for the platform.
        """
        entry = self._entry(agent_id)
        wanted = platform or this_platform()
        archives = entry.distribution.binary
        if wanted not in archives:
            there_are = f"only for {', '.join(archives)}" if archives else "for no platform"
            raise InvalidEntry(agent_id, f"it has no archive for {wanted}, {there_are}.")
        return binary(agent_id, archives[wanted], entry.version)

    def _entry(self, agent_id: str) -> Entry:
        found = self._entries.get(agent_id)
        if found is None and self.snapshot_date is not None:
            raise RegistryUnavailable(
                f"The registry can't be fetched, and the snapshot of {self.snapshot_date} doesn't have {agent_id!r}."
            )
        if found is None:
            raise UnknownAgent(agent_id, self._similar(agent_id))
        if len(found) > 1:
            raise InvalidEntry(agent_id, f"there are {len(found)} entries with this id.")
        try:
            return Entry.model_validate(found[0])
        except ValidationError as error:
            raise InvalidEntry(agent_id, _reason(error)) from error

    def _similar(self, agent_id: str) -> list[str]:
        wanted = agent_id.lower()
        containing = [each for each in self.ids if wanted and (wanted in each or each in wanted)]
        close = get_close_matches(wanted, self.ids, cutoff=0.6)
        return [*dict.fromkeys([*containing, *close])][:5]


def _reason(error: ValidationError) -> str:
    """Return the first thing that is wrong, without its value."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ascii(".".join(map(str, first["loc"])))[1:-1]  # may have any characters
    return f"{place}: {first['msg']}." if place else f"{first['msg']}."
