"""What each name of agent-client-protocol is here, from names.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

STABLE = "acp_bindings.v1"
UNSTABLE = "acp_bindings.v1_unstable"

# Names with a note that can be replaced all the same: the code around them is also rewritten.
_ALIKE = {
    *("Agent", "Client", "AgentSideConnection", "ClientSideConnection", "run_agent", "connect_to_agent"),
    *("spawn_agent_process", "RequestError", "BaseModel", "AvailableCommandInput"),
}


@dataclass(frozen=True)
class Target:
    """What a name is here.

    Attributes:
        module: where to import it from.
        name: its name there.
        note: what is different about it; "" if it is the same.
        alike: whether it can be written in place of the old name.
    """

    module: str
    name: str
    note: str = ""
    alike: bool = True


@dataclass(frozen=True)
class Gone:
    """A name that has no counterpart here.

    Attributes:
        why: a clause that says why, and what to do.
    """

    why: str


@dataclass(frozen=True)
class Helper:
    """A function that an expression replaces.

    Attributes:
        params: its positional parameters.
        expression: with `_name` for the argument of the parameter `name`, and `**_` for those that it doesn't name.
        defaults: expressions for arguments that weren't passed.
    """

    params: tuple[str, ...]
    expression: str
    defaults: Mapping[str, str]


@dataclass(frozen=True)
class Method:
    """A method of `acp.Agent` or `acp.Client`.

    Attributes:
        role: `agent` or `client`, which handles it.
        old: its name in `acp`.
        new: its name here.
        params: its parameters in `acp`, in order.
    """

    role: str
    old: str
    new: str
    params: tuple[str, ...]


class Names:
    """The names of `acp` and what they are here."""

    def __init__(self, data: Mapping[str, Any], profile: str) -> None:
        self.profile = profile
        self._schema: dict[str, str] = data["schema"]
        self._names: dict[str, list[str]] = data["names"]
        self._gone = {name: Gone(each["why"]) for each in data["gone"] for name in each["names"]}
        self.errors: dict[str, str] = data["errors"]
        self.helpers = {
            name: Helper(tuple(each[0]), each[1], each[2] if len(each) > 2 else {})
            for name, each in data["helpers"].items()
        }
        self.methods = {
            role: {old: Method(role, old, new, tuple(params)) for old, (new, params) in data["methods"][role].items()}
            for role in ("agent", "client")
        }
        self.dead: dict[str, str] = data["methods"]["dead"]
        self.fields: dict[str, str] = data["fields"]
        self.notes: dict[str, str] = data["methods"]["notes"]
        self.known = {*self._schema, *self._names, *self._gone, *self.helpers}

    def find(self, name: str) -> Target | Gone | None:
        """Return what a public name of `acp` or one of its modules is here; None if `acp` has no such name.

        Args:
            name: its last part, such as `TextContentBlock`.
        """
        if name in self._gone:
            return self._gone[name]
        if name in self._names:
            path, note = self._names[name]
            module, _, last = path.rpartition(".")
            return Target(module.replace(STABLE, self.profile, 1), last, note, not note or name in _ALIKE)
        if name in self.helpers:
            expression = self.helpers[name].expression
            return Target(self.profile, expression.partition("(")[0], expression, alike=False)
        wanted = self._schema.get(name, name)
        for module in dict.fromkeys([self.profile, UNSTABLE]):
            if wanted in import_module(module).__all__:
                return Target(module, wanted)
        return None

    def is_other_model(self, name: str) -> bool:
        """Return whether a name is that of a model of `acp` that has another name here."""
        return name in self._schema

    def is_renamed(self, path: str) -> bool:
        """Return whether a public name of `acp` has another name or no counterpart here.

        Args:
            path: such as `acp.schema.TextContentBlock`.
        """
        old = path.rpartition(".")[2]
        found = self.find(old)
        return found is not None and not (isinstance(found, Target) and found.name == old and found.alike)


@cache
def load(profile: str = STABLE) -> Names:
    """Return the names for a profile.

    Args:
        profile: the module of the profile, `acp_bindings.v1` or `acp_bindings.v1_unstable`.
    """
    return Names(tomllib.loads(files("acp_migrate").joinpath("names.toml").read_text("utf-8")), profile)
