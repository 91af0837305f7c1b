"""What others wrote, installed beside the virtual environment when a test first needs it. Never committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from tests.support.fill_once import fill_once

PEERS = Path(__file__).resolve().parents[2] / ".venv" / "peers"

# What the interop tests and the benchmarks run against.
PYTHON_SDK = "agent-client-protocol==0.12.1"
TYPESCRIPT_SDK = "@agentclientprotocol/sdk@2.4.0"
ZOD = "zod@4.6.7"

_SECONDS = 180
_NO_NETWORK = (
    *("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ENOTCACHED", "ETIMEDOUT", "ERR_SOCKET"),
    *("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ReadTimeoutError", "ProxyError"),
)


class UnavailableError(Exception):
    """A peer can't be had here, and why."""


def skip_without(what: str, reason: UnavailableError) -> NoReturn:
    """Skip a test that needs a peer; where all peers have to be there (`.ci/run`), fail it."""
    from tests.support.skipping import skip_or_fail  # benchmarks install peers, too

    skip_or_fail("peers", f"{what}: {reason}.")


def python_sdk() -> Path:
    """The virtual environment of the official Python SDK.

    Raises:
        UnavailableError: there is no network.
    """
    return pypi_package(PYTHON_SDK.replace("==", "@"), PYTHON_SDK)


def typescript_sdk() -> Path:
    """The folder of the official TypeScript SDK, in which `node_modules` is.

    Raises:
        UnavailableError: there is no node, no npm or no network.
    """
    return npm_package(TYPESCRIPT_SDK.rpartition("/")[2], TYPESCRIPT_SDK, ZOD)


def npm_package(name: str, *packages: str) -> Path:
    """The folder that npm packages are installed in, in which `node_modules` is.

    Args:
        name: of the folder.
        packages: with their versions.

    Raises:
        UnavailableError: there is no node, no npm or no network.
    """
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        raise UnavailableError("node and npm are needed")

    def install(folder: Path) -> None:
        quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"]
        settings = {"npm_config_fetch_retries": "1", "npm_config_update_notifier": "false"}
        _run([npm, "install", "--prefix", str(folder), *quiet, *packages], folder, settings)

    return _installed(name, install)


def pypi_package(name: str, *packages: str) -> Path:
    """The folder of a virtual environment with nothing but these packages.

    Args:
        name: of the folder.
        packages: with their versions.

    Raises:
        UnavailableError: there is no network.
    """

    def install(folder: Path) -> None:
        _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder, {})
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"]
        command = [sys.executable, "-m", "pip", "--python", str(python_in(folder)), "install"]
        _run([*command, *quiet, *packages], folder, {})

    return _installed(name, install)


def wheels(*packages: str) -> Path:
    """A folder with the wheels of packages and of what they need. To install from it takes pip a third of the time.

    Args:
        packages: with their versions.

    Raises:
        UnavailableError: there is no network.
    """

    def download(folder: Path) -> None:
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"]
        command = [sys.executable, "-m", "pip", "download", "--only-binary", ":all:", "--dest", str(folder)]
        _run([*command, *quiet, *packages], folder, {})

    return _installed(f"wheels-{'-'.join(packages)}", download)


def python_in(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _installed(name: str, install: Callable[[Path], None]) -> Path:
    return fill_once(PEERS / name, install)


def _run(command: Sequence[str], folder: Path, settings: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"it could not be fetched within {_SECONDS} seconds") from None
    if done.returncode != 0 and any(sign in done.stderr for sign in _NO_NETWORK):
        raise UnavailableError("its registry can't be reached")
    assert done.returncode == 0, done.stderr
