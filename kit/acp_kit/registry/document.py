"""The registry: which agents there are, and how each is started."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from acp_kit.common.sequences import check_sequence
from acp_kit.registry.entries import Entry
from acp_kit.registry.errors import BinaryOnly, InvalidEntry, InvalidRegistry, UnknownAgent, shown
from acp_runtime.commands import FOR_CMD_EXE

REGISTRY_URL = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
"""Where upstream publishes the registry."""

# Variables that agents of upstream's registry set, and that only these agents read. Another variable could decide where
# keys are sent (`OPENAI_BASE_URL`) or what is loaded (`NODE_OPTIONS`).
_VARIABLES = {
    "AUGMENT_DISABLE_AUTO_UPDATE",
    "DROID_DISABLE_AUTO_UPDATE",
    "FACTORY_DROID_AUTO_UPDATE_ENABLED",
    "FAST_AGENT_MODEL",
    "VT_ACP_ENABLED",
    "VT_ACP_ZED_ENABLED",
}
_ID = re.compile(r"[a-z][a-z0-9-]{0,99}")
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


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
class Binary(Launch):
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


class _Document(BaseModel):
    agents: list[Any]


class Registry:
    """The registry. An entry is checked when it is used, so an invalid one doesn't affect the others.

    Attributes:
        ids: the ids of the agents, in the registry's order.
    """

    def __init__(self, agents: Sequence[Any]) -> None:
        self._agents = [agent for agent in agents if _has_id(agent)]
        self.ids: Sequence[str] = tuple(dict.fromkeys(agent["id"] for agent in self._agents))

    @classmethod
    def parse(cls, document: bytes | str | Path) -> Registry:
        """Read a registry.

        Args:
            document: the JSON text of `registry.json`, or the path of that file.

        Raises:
            InvalidRegistry: if it isn't a registry.
            OSError: if the file can't be read.
        """
        text = document.read_bytes() if isinstance(document, Path) else document
        try:
            return cls(_Document.model_validate_json(text).agents)
        except ValidationError as error:
            raise InvalidRegistry(f"The document is not a registry of agents: {_reason(error)}") from error

    def resolve(self, agent_id: str, *, allow_env: Collection[str] = ()) -> Launch:
        """Return how to start an agent.

        If it is published for npx and for uvx, the installed one is chosen, or npx if both or none are installed.

        Args:
            agent_id: the id of the agent.
            allow_env: further variables that its entry may set.

        Raises:
            UnknownAgent: if the registry has no agent with this id.
            InvalidEntry: if its entry can't be used, or sets a variable that isn't allowed.
            BinaryOnly: if it is published neither for npx nor for uvx.
        """
        entry = self._entry(agent_id)
        npx, uvx = entry.distribution.npx, entry.distribution.uvx
        if npx and (not uvx or shutil.which("npx") or not shutil.which("uvx")):
            # Without a version, npx prefers a program of this name that is installed, such as `sh`.
            package = npx.package if "@" in npx.package[1:] else f"{npx.package}@latest"
            command, args, env = "npx", ("--yes", package, *npx.args), npx.env
        elif uvx:
            command, args, env = "uvx", (uvx.package, *uvx.args), uvx.env
        else:
            advice = f"Download the archive that find_binary({agent_id!r}) returns, and start its command."
            raise BinaryOnly(f"The agent {agent_id!r} is published only as an archive with a program. {advice}")
        unsafe = [argument for argument in args if FOR_CMD_EXE.intersection(argument)]
        if unsafe and sys.platform == "win32":
            raise _invalid(agent_id, f"the argument '{shown(unsafe[0])}' can't be passed to {command} on Windows.")
        return Launch(command=command, args=args, env=_allow(agent_id, env, allow_env), version=entry.version)

    def find_binary(self, agent_id: str, platform: str | None = None, *, allow_env: Collection[str] = ()) -> Binary:
        """Return the archive of an agent that is published as one. Nothing is downloaded.

        Args:
            agent_id: the id of the agent.
            platform: the platform, such as `linux-x86_64` or `darwin-aarch64`; by default this one.
            allow_env: further variables that its entry may set.

        Raises:
            UnknownAgent: if the registry has no agent with this id.
            InvalidEntry: if its entry can't be used, has no archive for the platform, or sets a variable that isn't
                allowed.
        """
        entry = self._entry(agent_id)
        platform = platform or _this_platform()
        archive = entry.distribution.binary.get(platform)
        if archive is None:
            platforms = ", ".join(entry.distribution.binary) or "no platform"
            raise _invalid(agent_id, f"it has no archive for {shown(platform)}, only for {shown(platforms)}.")
        _allow(agent_id, archive.env, allow_env)
        return Binary(**dict(archive), version=entry.version)

    def _entry(self, agent_id: str) -> Entry:
        matching = [agent for agent in self._agents if agent["id"] == agent_id]
        if not matching:
            similar = " or ".join(map(repr, get_close_matches(agent_id[:100].lower(), self.ids)))
            hint = f" Did you mean {similar}?" if similar else ""
            raise UnknownAgent(f"The registry has no agent with the id '{shown(agent_id)}'.{hint}")
        if len(matching) > 1:
            raise _invalid(agent_id, f"there are {len(matching)} entries with this id.")
        try:
            return Entry.model_validate(matching[0])
        except ValidationError as error:
            raise _invalid(agent_id, _reason(error)) from error


def _this_platform() -> str:
    name = platform.machine().lower()
    return f"{platform.system().lower()}-{_MACHINES.get(name, name)}"


def _has_id(agent: Any) -> bool:
    """Return whether an entry has an id. Nobody can ask for one without it."""
    match agent:
        case {"id": str(agent_id)}:
            return _ID.fullmatch(agent_id) is not None
        case _:
            return False


def _allow(agent_id: str, env: Mapping[str, str], allow_env: Collection[str]) -> Mapping[str, str]:
    """Return the variables, or raise InvalidEntry if the entry must not set one of them."""
    allowed = _VARIABLES.union(check_sequence("allow_env", allow_env))
    for name in env:
        if name not in allowed:
            allow = f"If you trust that, call resolve or find_binary with allow_env=[{name!r}]."
            raise _invalid(agent_id, f"it sets the environment variable {name}. {allow}")
    return env


def _invalid(agent_id: str, reason: str) -> InvalidEntry:
    return InvalidEntry(f"The registry's entry of {agent_id!r} can't be used: {reason}")


def _reason(error: ValidationError) -> str:
    """Return the first error, without its value."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = shown(".".join(map(str, first["loc"])))
    return f"{place}: {first['msg']}." if place else f"{first['msg']}."
