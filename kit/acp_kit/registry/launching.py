"""Commands that start agents, and what a registry may not decide about their environment."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from logging import getLogger

from acp_kit.registry.entries import Archive, Npx, Uvx

_logger = getLogger(__name__)

# These decide which programs and libraries are loaded, where packages come from, and whom a connection trusts.
_RESERVED = (
    *("PATH", "PATHEXT", "HOME", "USERPROFILE", "SHELL", "COMSPEC", "SYSTEMROOT", "WINDIR", "TEMP", "TMP", "TMPDIR"),
    *("ENV", "BASH_ENV", "ZDOTDIR", "IFS", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"),
    *("PERLLIB", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSLKEYLOGFILE", "GCONV_PATH"),
)
_RESERVED_PREFIXES = (
    *("BUN_", "COREPACK_", "DYLD_", "GIT_", "LD_", "NODE_", "NPM_", "OPENSSL_", "PIP_", "PYTHON", "SSH_", "UV_"),
    *("VIRTUAL_ENV", "XDG_", "YARN_"),
)

# On Windows, npx is a script, for which cmd.exe interprets these even in quotes.
_FOR_CMD_EXE = frozenset('"%&|<>^!')

_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How to start an agent: `spawn_agent(..., launch.command, *launch.args, env=launch.env)`.

    Attributes:
        command: the program, `npx` or `uvx`.
        args: its arguments.
        env: environment variables to set.
        version: the version of the agent.
    """

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    version: str


@dataclass(frozen=True, kw_only=True)
class Binary:
    """An archive with the program of an agent. Nothing here downloads it.

    Attributes:
        archive: the `https` address of a .zip, .tar.gz, .tgz, .tar.bz2 or .tbz2 file, or of the program itself.
        sha256: the SHA-256 of that file, as hex digits; None if upstream publishes none, so that you can't know
            whether you get what its author published.
        command: the program, relative to the folder into which the archive was unpacked.
        args: its arguments.
        env: environment variables to set.
        version: the version of the agent.
    """

    archive: str
    sha256: str | None
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    version: str


def npx(agent_id: str, package: Npx, version: str) -> Launch:
    """Return the command for an npm package."""
    # Without a version, npx prefers a program of this name that is installed, such as `sh`.
    chosen = package.package if "@" in package.package[1:] else f"{package.package}@latest"
    env = allowed_variables(agent_id, package.env)
    return Launch(command="npx", args=("--yes", chosen, *package.args), env=env, version=version)


def uvx(agent_id: str, package: Uvx, version: str) -> Launch:
    """Return the command for a package of PyPI."""
    env = allowed_variables(agent_id, package.env)
    return Launch(command="uvx", args=(package.package, *package.args), env=env, version=version)


def binary(agent_id: str, archive: Archive, version: str) -> Binary:
    """Return where an archive is, and the command in it."""
    return Binary(
        archive=archive.archive,
        sha256=archive.sha256,
        command=archive.cmd,
        args=archive.args,
        env=allowed_variables(agent_id, archive.env),
        version=version,
    )


def allowed_variables(agent_id: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that a registry may set. The other ones are logged at WARNING."""
    allowed: dict[str, str] = {}
    for name, value in env.items():
        if name.upper() in _RESERVED or name.upper().startswith(_RESERVED_PREFIXES):
            _logger.warning(
                "The registry's entry of %r sets the reserved variable %s, which is left out.", agent_id, name
            )
        else:
            allowed[name] = value
    return allowed


def unsafe_argument(args: tuple[str, ...]) -> str | None:
    """Return an argument that can't be passed safely on this platform; None if there is none."""
    if sys.platform != "win32":
        return None
    return next((each for each in args if _FOR_CMD_EXE & {*each}), None)


def this_platform() -> str:
    """Return the name that the registry has for this platform, such as `linux-x86_64`."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{_MACHINES.get(machine, machine)}"
