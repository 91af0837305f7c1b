"""Agents that are written for version 1 of the protocol, for clients of version 2."""

from acp_kit.versions.factory import as_v2 as as_v2
