"""One connection: JSON-RPC in both directions over a byte source and a byte writer, on asyncio."""

from acp_runtime.connection.closing import run
from acp_runtime.connection.connection import Connection

__all__ = ["Connection", "run"]
