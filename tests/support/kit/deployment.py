"""The deployment of `examples/remote` on this machine: two processes of the agent behind HAProxy, and PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL

from tests.support.programs import Program
from tests.support.skipping import skip_or_fail
from tools.paths import ROOT

FOLDER = ROOT / "examples" / "remote"


class Agent(Program):
    """A process of the agent, which listens on a Unix socket."""

    def __init__(self, path: Path, history: str) -> None:
        arguments = ("-m", "examples.remote.agent", str(path))
        super().__init__(*arguments, env={"HISTORY": history}, stdin=DEVNULL, stdout=DEVNULL)

    def wait_until_running(self) -> None:
        log = b""
        while b"running on" not in log:
            line = self.stderr.readline()
            assert line, log.decode()
            log += line

    def check_log(self) -> None:
        """Check the log of a killed process."""
        log = self.communicate()[1].decode()
        assert "Traceback" not in log, log


@dataclass
class Deployment:
    """A running deployment.

    Attributes:
        address: the host and the port of HAProxy.
        history: the URL of the database.
        agents: the processes of the agent, by the paths of their sockets.
    """

    address: str
    history: str
    agents: dict[Path, Agent]

    def kill(self, pid: int) -> None:
        """Kill a process of the agent, and return when another one has taken its place."""
        [(path, killed)] = [(path, agent) for path, agent in self.agents.items() if agent.pid == pid]
        killed.kill()
        killed.check_log()
        self.agents[path] = Agent(path, self.history)
        self.agents[path].wait_until_running()


@contextmanager
def deployed(folder: Path, history: str) -> Generator[Deployment]:
    """Run the deployment during the block.

    Args:
        folder: for the sockets. The path has to be short.
        history: the URL of the database.
    """
    one, two = folder / "one", folder / "two"
    with balancer(FOLDER / "haproxy.cfg", f"unix@{one}", f"unix@{two}") as address:
        deployment = Deployment(address, history, {path: Agent(path, history) for path in (one, two)})
        try:
            for agent in deployment.agents.values():
                agent.wait_until_running()
            yield deployment
        finally:
            for agent in deployment.agents.values():
                agent.kill()
            for agent in deployment.agents.values():
                agent.check_log()


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
