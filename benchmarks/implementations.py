"""The implementations that are measured, and how to start their programs. Peers are installed from their registries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.third_party import NEXT_PYTHON_SDK, UnavailableError, python_in, python_sdk, typescript_sdk

OURS, FLOOR, PYTHON_SDK, TYPESCRIPT_SDK = "ours", "floor", "python-sdk", "typescript-sdk"
NEXT = "python-sdk-rc"  # the newest pre-release
PEERS = (PYTHON_SDK, NEXT, TYPESCRIPT_SDK)
PROGRAMS = Path(__file__).with_name("programs")

Command = list[str]
Sample = dict[str, float]
Task = dict[str, int | str]
_SECONDS = 300


class FailedError(Exception):
    """A program could not be measured. The message says why."""


class Implementations:
    """This package, and the peers that can be installed here.

    Args:
        with_peers: whether to install and measure peers.

    Attributes:
        missing: the reason why a peer is not measured, by name.
    """

    def __init__(self, *, with_peers: bool) -> None:
        self.missing: dict[str, str] = {}
        self._peers: dict[str, tuple[Command, Command]] = {}
        for name, find in _INSTALLED.items():
            try:
                if not with_peers:
                    raise UnavailableError("measured without peers")
                self._peers[name] = find()
            except UnavailableError as reason:
                self.missing[name] = str(reason)

    @property
    def peers(self) -> list[str]:
        """The peers that are measured."""
        return list(self._peers)

    @property
    def names(self) -> list[str]:
        """All implementations that have an agent and a client, ours first."""
        return [OURS, *self._peers]

    def command(self, name: str, role: str) -> Command:
        """Return the command for the agent or the client that is written with an implementation."""
        if name == OURS:
            return program("ours", f"{role}.py")
        before, after = self._peers[name]
        folder, suffix = ("python_sdk", "py") if name != TYPESCRIPT_SDK else ("typescript", "mjs")
        return [*before, str(PROGRAMS / folder / f"{role}.{suffix}"), *after]


def program(folder: str, file: str) -> Command:
    """Return the command for a program that needs no peer. Raw ones use only the standard library and start fast."""
    flags = ["-I", "-S"] if folder == "raw" else []
    return [sys.executable, *flags, str(PROGRAMS / folder / file)]


def run(command: Sequence[str], *arguments: str | int | Task) -> Sample:
    """Run a program and return the measurements that it prints as JSON, in seconds and bytes.

    Raises:
        FailedError: it failed, or didn't end in time.
    """
    words = [*command, *(argument if isinstance(argument, str) else json.dumps(argument) for argument in arguments)]
    try:
        done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise FailedError(f"`{' '.join(words)}` did not end within {_SECONDS} seconds.") from None
    if done.returncode != 0:
        raise FailedError(f"`{' '.join(words)}` ended with exit code {done.returncode}:\n{done.stderr[-3000:]}")
    measured: Any = json.loads(done.stdout)
    return {key: float(value) for key, value in measured.items()}


def environment() -> Mapping[str, str]:
    """Return the environment of programs. It has no `PYTHON...` variables, because users rarely set them."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _python(folder: Path) -> tuple[Command, Command]:
    return [str(python_in(folder))], []


def _node(folder: Path) -> tuple[Command, Command]:
    return ["node"], [str(folder)]


_INSTALLED: dict[str, Callable[[], tuple[Command, Command]]] = {
    PYTHON_SDK: lambda: _python(python_sdk()),
    NEXT: lambda: _python(python_sdk(NEXT_PYTHON_SDK)),
    TYPESCRIPT_SDK: lambda: _node(typescript_sdk()),
}
