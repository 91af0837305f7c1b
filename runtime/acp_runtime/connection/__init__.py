"""One connection: JSON-RPC in both directions over a byte source and a byte writer, on asyncio."""

from acp_runtime.connection.connection import Connection, WhyClosed
from acp_runtime.connection.running import run

__all__ = ["Connection", "WhyClosed", "run"]
