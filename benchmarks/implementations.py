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
_ROOT = Path(__file__).resolve().parents[1]

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
        self._peers: dict[str, Path] = {}  # the interpreters of Python SDKs, and the folder of the TypeScript SDK
        for name, install in _INSTALL.items():
            try:
                if not with_peers:
                    raise UnavailableError("measured without peers")
                self._peers[name] = install()
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
        if name == TYPESCRIPT_SDK:
            return ["node", str(PROGRAMS / "typescript" / f"{role}.mjs"), str(self._peers[name])]
        python, folder = (sys.executable, "ours") if name == OURS else (str(self._peers[name]), "python_sdk")
        if role == "client":  # which imports what both have in common
            return [python, "-m", f"benchmarks.programs.{folder}.client"]
        return [python, str(PROGRAMS / folder / "agent.py")]


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
        process = subprocess.run(
            words, cwd=_ROOT, env=environment(), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"`{' '.join(words)}` did not end within {_SECONDS} seconds.") from None
    if process.returncode != 0:
        raise FailedError(f"`{' '.join(words)}` ended with exit code {process.returncode}:\n{process.stderr[-3000:]}")
    measured: Any = json.loads(process.stdout)
    return {key: float(value) for key, value in measured.items()}


def environment() -> Mapping[str, str]:
    """Return the environment of programs. It has no `PYTHON...` variables, because users rarely set them."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


_INSTALL: dict[str, Callable[[], Path]] = {
    PYTHON_SDK: lambda: python_in(python_sdk()),
    NEXT: lambda: python_in(python_sdk(NEXT_PYTHON_SDK)),
    TYPESCRIPT_SDK: typescript_sdk,
}
