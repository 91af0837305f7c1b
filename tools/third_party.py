"""Installs other SDKs and packages next to the virtual environment when a test or benchmark first needs them.

The environment variable `ACP_PEERS=refused` refuses them.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock

from tools.paths import ROOT

BORROW = Path(__file__).with_name("borrow_packages.py")
PEERS = ROOT / ".venv" / "peers"

# The SDKs that interop tests and benchmarks run against.
PYTHON_SDK = "agent-client-protocol==0.12.1"
NEXT_PYTHON_SDK = "agent-client-protocol==1.0.0rc3"
TYPESCRIPT_SDK = "@agentclientprotocol/sdk@2.4.0"
ZOD = "zod@4.6.7"
# What the SDKs need to serve agents at the other end of a network.
WS = "ws@8.23.0"
ASGI_SERVER = "uvicorn==0.54.0"
# Two releases of a command line client: the newest, and one that answers a missing file with -32603. They need a newer
# Node.js than most machines have, which npm has for each platform.
ACPX = {"acpx": "0.19.1", "acpx-before": "0.15.1"}
NODE = "26.10.0"
# Agents of version 1 that people use.
OPENCODE = "1.18.33"
GEMINI_CLI = "@google/gemini-cli@0.61.0"
# The kernel of notebooks.
IPYKERNEL = "ipykernel==7.4.0"
# What the guides to frameworks and to backends use, besides what .venv has.
FRAMEWORKS = (
    "anthropic==2.12.0",
    "deepagents==0.7.32",
    "fastapi==0.165.0",
    "langchain==1.4.7",
    "langchain-anthropic==1.7.7",
    "langgraph==1.2.22",
    "pydantic-ai-slim==2.68.0",
)

_SECONDS = 180
# What npm and pip print if they can't reach their registry.
_NO_NETWORK = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ENETUNREACH",
    "ENOTCACHED",
    "ETIMEDOUT",
    "ERR_SOCKET",
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
)


class UnavailableError(Exception):
    """A package can't be installed on this machine."""


def python_sdk(requirement: str = PYTHON_SDK) -> Path:
    """Return the virtual environment of the official Python SDK, with what its remote transports need.

    Raises:
        UnavailableError: if there is no network.
    """
    name = requirement.replace("==", "@")
    return pypi_package(f"{name}-{ASGI_SERVER}", requirement.replace("==", "[http]=="), ASGI_SERVER)


def python_sdk_suite(requirement: str) -> tuple[Path, Path]:
    """Return the folder of the official Python SDK's tests, and an environment that runs them and has this project.

    Raises:
        UnavailableError: if there is no network.
    """
    packages = [requirement.replace("==", "[http]=="), ASGI_SERVER, "pytest-asyncio==1.5.0"]
    environment = pypi_package(f"suite-{'-'.join(packages)}", *packages, borrow=True)
    return sdist(requirement), environment


def typescript_sdk(package: str = TYPESCRIPT_SDK) -> Path:
    """Return the folder of the official TypeScript SDK, which contains `node_modules`, with what WebSockets need.

    Raises:
        UnavailableError: if node, npm or the network is missing.
    """
    return npm_package(f"{package.rpartition('/')[2]}-{WS}", package, ZOD, WS)


def acpx(name: str) -> list[str]:
    """Return the command that starts a release of acpx.

    Args:
        name: one of `ACPX`.

    Raises:
        UnavailableError: if node, npm or the network is missing.
    """
    node = f"node-{_platform()}"
    releases = [f"{alias}@npm:acpx@{version}" for alias, version in ACPX.items()]
    folder = npm_package(f"acpx-{'-'.join(ACPX.values())}-node-{NODE}", f"{node}@{NODE}", *releases) / "node_modules"
    return [str(folder / node / "bin/node"), str(folder / name / "dist/cli.js")]


def opencode() -> list[str]:
    """Return the command that starts opencode as an agent.

    Raises:
        UnavailableError: if node, npm or the network is missing.
    """
    package = f"opencode-{_platform()}"
    folder = npm_package(f"opencode-{OPENCODE}", f"{package}@{OPENCODE}")
    return [str(folder / "node_modules" / package / "bin/opencode"), "acp"]


def gemini_cli() -> list[str]:
    """Return the command that starts Gemini CLI as an agent.

    Raises:
        UnavailableError: if node, npm or the network is missing.
    """
    folder = npm_package(f"gemini-cli-{GEMINI_CLI.rpartition('@')[2]}", GEMINI_CLI)
    return [str(folder / "node_modules/.bin/gemini"), "--acp", "--model", "gemini-2.5-flash"]


def _platform() -> str:
    """Return the name of this platform in npm packages."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{sys.platform}-{machine}"


def notebook() -> Path:
    """Return a virtual environment with the kernel of notebooks, which finds everything else in the one of the tests.

    Raises:
        UnavailableError: if there is no network.
    """
    return pypi_package(IPYKERNEL.replace("==", "@"), IPYKERNEL, borrow=True)


def frameworks() -> Path:
    """Return a virtual environment with frameworks for agents, which finds everything else in the one of the tests.

    Raises:
        UnavailableError: if there is no network.
    """
    name = hashlib.sha256(" ".join(FRAMEWORKS).encode()).hexdigest()[:12]
    return pypi_package(f"frameworks-{name}", *FRAMEWORKS, borrow=True)


def npm_package(name: str, *packages: str) -> Path:
    """Install npm packages, and return the folder that contains their `node_modules`.

    Args:
        name: the name of the folder.
        packages: the packages with their versions.

    Raises:
        UnavailableError: if node, npm or the network is missing.
    """
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        raise UnavailableError("node and npm are needed")

    def install(folder: Path) -> None:
        quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"]
        settings = {"npm_config_fetch_retries": "1", "npm_config_update_notifier": "false"}
        _run([npm, "install", "--prefix", str(folder), *quiet, *packages], folder, settings)

    return install_once(name, install)


def pypi_package(name: str, *packages: str, borrow: bool = False) -> Path:
    """Install packages from PyPI into a virtual environment of their own, and return its folder.

    Args:
        name: the name of the folder.
        packages: the packages with their versions.
        borrow: whether other packages are found in the environment that this runs in.

    Raises:
        UnavailableError: if there is no network.
    """

    def install(folder: Path) -> None:
        _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder, {})
        # Python compiles what is imported; pip would compile everything.
        quiet = ["--quiet", "--disable-pip-version-check", "--no-compile", "--no-input", "--retries", "1"]
        command = [sys.executable, "-m", "pip", "--python", str(python_in(folder)), "install"]
        _run([*command, *quiet, *packages], folder, {})
        if borrow:
            _run([str(python_in(folder)), str(BORROW), sys.prefix], folder, {})

    return install_once(name, install)


def sdist(requirement: str) -> Path:
    """Download the source distribution of a package, and return its folder, which has the tests of some packages.

    Args:
        requirement: the package with its version, and hashes if wanted.

    Raises:
        UnavailableError: if there is no network.
    """
    name = requirement.split("==", maxsplit=1)[0]

    def download(folder: Path) -> None:
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"]
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", name, "--dest", str(folder)]
        _run([*command, *quiet, requirement], folder, {})
        archive = next(folder.iterdir())
        with tarfile.open(archive) as members:
            members.extractall(folder, filter="data")
        archive.unlink()

    return next(install_once(f"sdist-{requirement.replace('==', '@')}", download).glob("*/"))


def wheels(*packages: str) -> Path:
    """Download the wheels of packages and their dependencies, and return their folder. pip installs from it faster.

    Args:
        packages: the packages with their versions.

    Raises:
        UnavailableError: if there is no network.
    """

    def download(folder: Path) -> None:
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1"]
        command = [sys.executable, "-m", "pip", "download", "--only-binary", ":all:", "--dest", str(folder)]
        _run([*command, *quiet, *packages], folder, {})

    return install_once(f"wheels-{'-'.join(packages)}", download)


def python_in(folder: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install_once(name: str, install: Callable[[Path], None]) -> Path:
    """Install something unless an earlier run has installed it, and return its folder. Other processes wait meanwhile.

    If installing was interrupted, the folder is emptied and filled again.

    Args:
        name: the name of the folder. It identifies the content, with a version or a hash.
        install: called with the empty folder.

    Raises:
        UnavailableError: from `install`.
    """
    if os.environ.get("ACP_PEERS") == "refused":
        raise RuntimeError(f"This needs {name}, which is not for `make test`: mark the test `test_all`.")
    folder = PEERS / name
    done = folder / ".complete"
    if not done.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                install(folder)
                done.touch()
    return folder


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
