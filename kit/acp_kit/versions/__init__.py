"""Agents that are written for version 1 of the protocol, for clients of version 2."""

from acp_kit.versions.as_v2 import as_v2

__all__ = ["as_v2"]
