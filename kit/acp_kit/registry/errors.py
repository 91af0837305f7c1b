"""Why there is no command for an agent."""

from __future__ import annotations

from collections.abc import Sequence


class RegistryError(Exception):
    """The base of all errors of this package."""


class RegistryUnavailable(RegistryError):
    """The registry can't be fetched, and neither a copy on the disk nor the snapshot can be used instead."""


class InvalidRegistry(RegistryError):
    """The registry isn't what upstream's schema says."""


class UnknownAgent(RegistryError):
    """The registry has no agent with this id.

    Attributes:
        agent_id: the id.
        similar: the ids that look like it.
    """

    def __init__(self, agent_id: str, similar: Sequence[str]) -> None:
        super().__init__(agent_id, similar)
        self.agent_id = agent_id
        self.similar = similar

    def __str__(self) -> str:
        hint = f" Did you mean {' or '.join(map(repr, self.similar))}?" if self.similar else ""
        return f"The registry has no agent with the id {self.agent_id!r}.{hint}"


class InvalidEntry(RegistryError):
    """The registry's entry of an agent can't be used, or it is not safe to use."""

    def __init__(self, agent_id: str, reason: str) -> None:
        super().__init__(agent_id, reason)
        self.agent_id = agent_id
        self.reason = reason

    def __str__(self) -> str:
        return f"The registry's entry of {self.agent_id!r} can't be used: {self.reason}"


class BinaryOnly(RegistryError):
    """The agent is published neither for npx nor for uvx. `Registry.find_binary` says where its archive is."""

    def __init__(self, agent_id: str) -> None:
        super().__init__(agent_id)
        self.agent_id = agent_id

    def __str__(self) -> str:
        return (
            f"The agent {self.agent_id!r} is published only as an archive with a program. Download and unpack the one "
            f"that load_registry().find_binary({self.agent_id!r}) names, and start its command."
        )
