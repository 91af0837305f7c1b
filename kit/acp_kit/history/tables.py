"""The tables of `SqlHistory`. Texts of a peer are stored as JSON, because databases can't store every text."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
)

from acp_kit.history import sqlite
from acp_kit.history.errors import HistoryDamaged, HistoryTooNew

VERSION: Final = 1
"""The version of these tables. A history with a higher one is refused."""

METADATA: Final = MetaData()

SCHEMA: Final = Table("acp_history_schema", METADATA, Column("version", Integer, nullable=False))

# Positions of entries may have gaps; `next_position` is after all of them. `open_from` is the position where the last
# message starts, and `open_key` its key, while its chunks are separate rows.
SESSIONS: Final = Table(
    "acp_history_sessions",
    METADATA,
    Column("session_id", String, primary_key=True),
    Column("cwd", Text, nullable=False),
    Column("additional_directories", Text, nullable=False),
    Column("title", Text),
    Column("updated_at", String(40), nullable=False),
    Column("next_position", BigInteger, nullable=False),
    Column("open_from", BigInteger),
    Column("open_key", Text),
    Index("acp_history_by_time", "updated_at", "session_id"),
)

ENTRIES: Final = Table(
    "acp_history_entries",
    METADATA,
    Column("session_id", String, primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("tool_call_id", Text),
    Column("body", Text, nullable=False),
    Index("acp_history_tool_calls", "session_id", "tool_call_id"),
)

SETTINGS: Final = Table(
    "acp_history_settings",
    METADATA,
    Column("session_id", String, primary_key=True),
    Column("tag", String, primary_key=True),
    Column("body", Text, nullable=False),
)


def create_tables(connection: Connection, name: str) -> None:
    """Create the tables that don't exist yet.

    Raises:
        HistoryDamaged: if their version is missing.
        HistoryTooNew: if they have a newer version.
    """
    sqlite.lock(connection)
    if inspect(connection).has_table(SCHEMA.name):
        versions = connection.execute(select(SCHEMA.c.version)).scalars().all()
        if len(versions) != 1 or not isinstance(version := versions[0], int):
            raise HistoryDamaged(f"{name} is damaged: the version of its tables is missing")
        if version > VERSION:
            raise HistoryTooNew(
                f"{name} has version {version} of its tables, and this version of acp-bindings knows {VERSION}. "
                "Upgrade acp-bindings, or use another history."
            )
        return
    # If two processes come here at the same time, one of them must fail, so existing tables are not skipped.
    METADATA.create_all(connection, checkfirst=False)
    connection.execute(insert(SCHEMA).values(version=VERSION))
