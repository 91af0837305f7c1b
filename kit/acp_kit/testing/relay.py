"""A client starts this program instead of an agent. It passes bytes on between stdin, stdout and the agent of a test.

It is run as a file and uses only the standard library, so that it starts quickly: `python relay.py PORT`, with
`ACP_TOKEN` in the environment.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from threading import Thread
from typing import BinaryIO

END = b"\0"
"""Precedes the exit code. No message contains it."""

_CHUNK_BYTES = 64 * 1024


def pass_on(agent: socket.socket, stdout: BinaryIO) -> int:
    """Pass bytes on until the agent ends. Return its exit code."""
    with agent, suppress(ConnectionError):
        Thread(target=_send, args=(agent,), daemon=True).start()
        while data := agent.recv(_CHUNK_BYTES):
            data, end, code = data.partition(END)
            stdout.write(data)
            stdout.flush()
            if end:
                with suppress(ConnectionError):  # the agent has ended, and something that was sent to it is unread
                    while more := agent.recv(_CHUNK_BYTES):
                        code += more
                return int(code)
    return 0


def _send(agent: socket.socket) -> None:
    with suppress(OSError):  # the agent has ended
        while data := os.read(0, _CHUNK_BYTES):
            agent.sendall(data)
        agent.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client
    connection: socket.socket = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connection.sendall(os.environ["ACP_TOKEN"].encode() + b"\n")
    os._exit(pass_on(connection, sys.stdout.buffer))  # even if the thread still reads stdin
