"""Imports what a server process of a remote agent with a history in PostgreSQL needs."""

from __future__ import annotations

import asyncpg  # noqa: F401
import hypercorn.asyncio.run  # noqa: F401
import sqlalchemy.dialects.postgresql.asyncpg
import sqlalchemy.ext.asyncio  # noqa: F401

import acp_kit.agent
import acp_kit.history.sql
import acp_kit.remote.server.app  # noqa: F401
from acp_bindings import v1

v1.InitializeRequest(protocol_version=1).model_dump_json()
