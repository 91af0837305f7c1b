"""Imports what the commands `serve` and `connect` need."""

from __future__ import annotations

import hypercorn.asyncio  # noqa: F401

import acp_kit.remote.client.bridge
import acp_kit.remote.server.app  # noqa: F401
