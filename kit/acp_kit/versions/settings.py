"""Config options, the modes of version 1, which are one of the options in version 2, and commands."""

from __future__ import annotations

import logging
import re
from typing import Any

from acp_kit.common.json_values import items_of, members_of
from acp_kit.versions.json_objects import Json, renamed
from acp_runtime import InvalidParams

_logger = logging.getLogger(__name__)


class Settings:
    """The config options and modes of a session.

    Attributes:
        mode_option: the id of the option that stands for the modes; None if there is no such option.
    """

    def __init__(self) -> None:
        self._options: list[Json] = []
        self._modes: Json | None = None

    @property
    def mode_option(self) -> str | None:
        """The id of the option that stands for the modes; None if there are none, or the agent has such an option."""
        if self._modes is None or any(option.get("category") == "mode" for option in self._options):
            return None
        id = "mode"
        while any(option["configId"] == id for option in self._options):
            id = f"_{id}"
        return id

    def update(self, response: Json) -> list[Json]:
        """Take the modes and options from a response or an update. Return the options of version 2."""
        self._modes = response.get("modes") or self._modes
        if response.get("configOptions") is not None:
            self._options = [_option_to_v2(option) for option in response["configOptions"]]
        return self.options()

    def check(self, id: str, value: Any) -> None:
        """Check a value for an option.

        Raises:
            InvalidParams: if there is no such option, or it doesn't have the value.
        """
        option = next((option for option in self.options() if option["configId"] == id), None)
        if option is None:
            raise InvalidParams(f"There is no option {id!r:.200}")
        items = items_of(option, "options")
        values = [value["value"] for item in items for value in items_of(item, "options") or [item]]
        if values and value not in values:
            raise InvalidParams(f"The option {id!r:.200} has no value {value!r:.200}")

    def set_mode(self, mode: str) -> list[Json]:
        """Change the mode. Return the options of version 2."""
        if self._modes is not None:
            self._modes = self._modes | {"currentModeId": mode}
        return self.options()

    def options(self) -> list[Json]:
        """Return the options of version 2."""
        id = self.mode_option
        return self._options if id is None or self._modes is None else [_mode_option(id, self._modes), *self._options]


def _option_to_v2(old: Json) -> Json:
    option = renamed(old, id="configId")
    if "options" in option:
        option["options"] = [renamed(item, group="groupId") for item in items_of(option, "options")]
    return option


def _mode_option(id: str, modes: Json) -> Json:
    values = [renamed(mode, id="value") for mode in modes["availableModes"]]
    current = modes["currentModeId"]
    if all(value["value"] != current for value in values):
        values.append({"value": current, "name": current})
    return {
        "configId": id,
        "type": "select",
        "name": "Mode",
        "category": "mode",
        "currentValue": current,
        "options": values,
    }


def commands_to_v2(old: list[Json]) -> list[Json]:
    """Return the commands that the user may enter. In version 2, their names are unique and have no white space."""
    named = {command["name"]: command for command in reversed(old) if not re.search(r"\s", command["name"])}
    if len(named) < len(old):
        _logger.warning("Left out %s commands whose names have white space or are used twice", len(old) - len(named))
    return [_command_to_v2(command) for command in reversed(named.values())]


def _command_to_v2(old: Json) -> Json:
    command: Json = {"type": "command"} | old
    if old.get("input"):
        command["input"] = {"type": "text"} | members_of(old, "input")
    return command
