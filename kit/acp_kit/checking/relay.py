"""The process that the client under test starts as its agent: it passes bytes between the client and the checker.

It is run by its path and needs nothing but the standard library, so that it runs wherever the client starts it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from threading import Event, Thread


def main(port: int, token: str) -> int:
    """Connect to the checker, and pass on bytes until one side ends. Return the exit code of the agent.

    Args:
        port: where the checker listens.
        token: shows the checker that this process is meant.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the client
    client_left = Event()
    try:
        checker = socket.create_connection(("127.0.0.1", port))
        checker.sendall(f"{token}\n".encode())
        Thread(target=_pass_stdin, args=[checker, client_left], daemon=True).start()
        while data := checker.recv(65536):
            while data:
                data = data[os.write(1, data) :]
    except OSError as error:
        sys.stderr.write(f"acp-bindings check-client: the agent ends: {error}\n")
    return 0 if client_left.is_set() else 1


def _pass_stdin(checker: socket.socket, client_left: Event) -> None:
    while data := os.read(0, 65536):
        checker.sendall(data)
    client_left.set()
    checker.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    os._exit(main(int(sys.argv[1]), sys.argv[2]))  # without waiting for the thread, which may read for ever
