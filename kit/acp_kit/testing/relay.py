"""What a client starts in place of an agent: passes bytes on between stdin, stdout and the agent of a test.

It is run as a file and uses the standard library only, so that it starts quickly: `python relay.py PORT`.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from threading import Thread

END = b"\0"
"""Comes before the exit code. No message has it."""

_CHUNK = 64 * 1024


def main(port: int) -> int:
    """Pass bytes on until the agent ends. Return its exit code."""
    with socket.create_connection(("127.0.0.1", port)) as agent, suppress(ConnectionError):
        Thread(target=_send, args=(agent,), daemon=True).start()
        while data := agent.recv(_CHUNK):
            data, end, code = data.partition(END)
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            if end:
                return int(code)
    return 0


def _send(agent: socket.socket) -> None:
    with suppress(OSError):  # the agent has ended
        while data := os.read(0, _CHUNK):
            agent.sendall(data)
        agent.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    os._exit(main(int(sys.argv[1])))  # whether or not the client still writes
