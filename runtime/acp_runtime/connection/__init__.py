"""One connection: JSON-RPC in both directions over a byte source and a byte writer, on asyncio.

Begin with `connection.py`, which makes the parts from the bottom up; `dispatch.py`, where received messages come in;
and `channel.py`, where this side's messages go out. Then:

* `call.py`: this side's calls, their late responses, and the turns that this side cancels
* `request.py`: the peer's requests, and the turns that the peer cancels
* `session.py`: the order of notifications; `held.py`: what this side sends to sessions that the peer doesn't know yet
* `effects.py`: what methods open, create and end
* `limits.py`, `reader.py`: when reading pauses, and when a flood closes the connection
* `closing.py`: the end
"""

from acp_runtime.connection.closing import run
from acp_runtime.connection.connection import Connection

__all__ = ["Connection", "run"]
