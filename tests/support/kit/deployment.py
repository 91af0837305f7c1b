"""The deployment of `examples/remote` on this machine: two processes of the agent behind HAProxy, and PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import DEVNULL
from types import TracebackType

from tests.support.paths import ROOT
from tests.support.programs import Program
from tests.support.skipping import skip_or_fail

FOLDER = ROOT / "examples" / "remote"
NAMES = ("one", "two")


class Deployment:
    """Runs as long as the block. The processes of the agent listen on sockets in a folder.

    Args:
        folder: for the sockets. The path has to be short.
        history: the URL of the database.

    Attributes:
        address: the host and the port of HAProxy.
    """

    def __init__(self, folder: Path, history: str) -> None:
        self._folder = folder
        self._history = history
        self._agents: dict[str, Program] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Deployment:
        # First, so that nothing runs yet if there is no HAProxy.
        one, two = (f"unix@{self._folder / name}" for name in NAMES)
        self.address = self._stack.enter_context(balancer(FOLDER / "haproxy.cfg", one, two))
        for name in NAMES:
            self._start(name)
            self._stack.callback(self._kill, name)
        for name in NAMES:
            self._wait_until_running(name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def kill(self, pid: int) -> None:
        """Kill a process of the agent, and return when another one has taken its place."""
        (name,) = [name for name, agent in self._agents.items() if agent.pid == pid]
        self._kill(name)
        self._start(name)
        self._wait_until_running(name)

    def _start(self, name: str) -> None:
        arguments = ("-m", "examples.remote.agent", str(self._folder / name))
        self._agents[name] = Program(*arguments, env={"HISTORY": self._history}, stdin=DEVNULL, stdout=DEVNULL)

    def _kill(self, name: str) -> None:
        agent = self._agents[name]
        agent.kill()
        agent.wait()
        with agent.stderr:
            log = agent.stderr.read().decode()
        assert "Traceback" not in log, log

    def _wait_until_running(self, name: str) -> None:
        stderr = self._agents[name].stderr
        log = b""
        while b"running on" not in log:
            line = stderr.readline()
            assert line, log.decode()
            log += line


@contextmanager
def balancer(config: Path, one: str, two: str) -> Generator[str]:
    """Run HAProxy in front of two processes. Yield its host and port."""
    # Debian's package is not on the PATH of ordinary users.
    program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if program is None:
        skip_or_fail("tools", "HAProxy is needed (in Debian, the package haproxy).")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        process = subprocess.Popen(
            [program, "-db", "-q", "-f", str(config)],
            env={**os.environ, "ONE": one, "TWO": two, "LISTEN": f"fd@{listening.fileno()}"},
            pass_fds=[listening.fileno()],
            stderr=subprocess.DEVNULL,
        )
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield address
    finally:
        process.kill()
        process.wait()
