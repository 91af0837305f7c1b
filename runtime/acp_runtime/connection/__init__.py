"""One connection: JSON-RPC both ways over a source of bytes and a writer, run on asyncio."""

from acp_runtime.connection.connection import Connection, WhyClosed
from acp_runtime.connection.running import run

__all__ = ["Connection", "WhyClosed", "run"]
