"""One connection: JSON-RPC in both directions over a byte source and a byte writer, on asyncio.

Begin with `connection.py`, which makes the parts from the bottom up; `dispatch.py`, where received messages come in;
and `calls.py`, where this side's messages go out. Then:

* `request.py`: the peer's requests, and the turns that the peer cancels
* `session.py`: the order of notifications, and those to sessions whose ids are still on their way
* `state.py`: what was agreed, and which messages are allowed
* `limits.py`, `reader.py`: when reading pauses, and when a flood closes the connection
* `lifecycle.py`, `closing.py`: the end
"""

from acp_runtime.connection.closing import run
from acp_runtime.connection.connection import Connection

__all__ = ["Connection", "run"]
