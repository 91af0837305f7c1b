"""Errors that say why an agent can't be started."""

from __future__ import annotations


class RegistryError(Exception):
    """The base of all errors of this package."""


class InvalidRegistry(RegistryError):
    """The document doesn't fit upstream's schema."""


class UnknownAgent(RegistryError):
    """The registry has no agent with this id. The message names ids that look like it."""


class InvalidEntry(RegistryError):
    """The registry's entry of an agent can't be used, or it is not safe to use."""


class BinaryOnly(RegistryError):
    """The agent is published neither for npx nor for uvx. `Registry.find_binary` says where its archive is."""


def shown(text: object) -> str:
    """Return text of the registry for an error message: limited in length, and without control characters."""
    return ascii(str(text))[1:-1][:300]
