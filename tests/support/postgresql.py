"""A PostgreSQL server for tests: a cluster in a temporary folder, reached through a Unix socket in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.support.skipping import skip_or_fail

# It refuses to run as root. Debian's package creates this user.
_USER = "postgres"
# Killing a process loses nothing that the system has, so the disk needn't have it.
_SETTINGS = ("fsync=off", "listen_addresses=", "max_connections=50")


class PostgreSQL:
    """A running server.

    Args:
        programs: the folder with its programs.
        folder: where it keeps everything. The path has to be short, for the socket.
    """

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._numbers = count()

    def create_database(self) -> str:
        """Create an empty database, and return its URL."""
        name = f"test{next(self._numbers)}"
        self.run("createdb", "--host", str(self._folder), "--username", _USER, name)
        return f"postgresql+asyncpg://{_USER}@/{name}?host={self._folder}"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of its programs, which must succeed."""
        user = _USER if os.getuid() == 0 else None
        log = self._folder / "log"
        with log.open("ab") as output:
            # Its output is no pipe, because the server would keep that open.
            done = subprocess.run(
                [str(self._programs / program), *arguments],
                cwd="/",
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
        assert done.returncode == 0, log.read_text()


@contextmanager
def running() -> Generator[PostgreSQL]:
    """Run a server. Skip the test if it isn't installed, or fail where all tools are required."""
    programs = _programs()
    if programs is None:
        skip_or_fail("tools", "PostgreSQL is needed (in Debian, the package postgresql).")
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        if os.getuid() == 0:
            shutil.chown(folder, _USER, _USER)
        server, data = PostgreSQL(programs, folder), ["--pgdata", str(folder / "data")]
        created = ("--username", _USER, "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync")
        server.run("initdb", *data, *created)
        options = " ".join(f"-c {setting}" for setting in (*_SETTINGS, f"unix_socket_directories={folder}"))
        server.run("pg_ctl", *data, "--wait", "--options", options, "start")
        try:
            yield server
        finally:
            server.run("pg_ctl", *data, "--mode", "immediate", "--wait", "stop")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A server, one for each process that runs tests."""
    with running() as server:
        yield server


def _programs() -> Path | None:
    """Return the folder with the programs of the newest version. Debian doesn't put them on PATH."""
    if result := shutil.which("initdb"):
        return Path(result).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None
