"""Finds and checks the config options and the modes of a session, for agents and clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from acp_runtime.escaping import printable

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionConfigOption, SessionConfigOptionSelect, SessionConfigSelectOption, SessionMode


def find_option(options: Sequence[SessionConfigOption], setting: str) -> SessionConfigOption | None:
    """Return the option with this id, else the only option of this category, else None.

    Raises:
        ValueError: if several options have the category. The message lists their ids.
    """
    by_id = [option for option in options if option.id == setting]
    matching = by_id or [option for option in options if option.category == setting]
    if len(matching) > 1:
        raise ValueError(f"The agent has several options for {setting!r}. Pass an id: {_list(o.id for o in matching)}.")
    return matching[0] if matching else None


def check_value(option: SessionConfigOption, value: str | bool) -> None:
    """Check that an option offers a value.

    Raises:
        ValueError: if it doesn't. The message lists the values that it offers.
    """
    if option.type == "boolean":
        if not isinstance(value, bool):
            raise ValueError(f"The option {printable(option.id)!r} is on or off: pass True or False, not {value!r}.")
    elif value not in (values := [choice.value for choice in values_of(option)]):
        raise ValueError(f"The option {printable(option.id)!r} doesn't offer {value!r}, but {_list(values)}.")


def check_mode(modes: Sequence[SessionMode], mode_id: str | bool) -> None:
    """Check that a session offers a mode.

    Raises:
        ValueError: if it doesn't. The message lists the modes that it offers.
    """
    if mode_id not in (ids := [mode.id for mode in modes]):
        raise ValueError(f"The agent doesn't offer the mode {mode_id!r}, but {_list(ids)}.")


def not_offered(setting: str, options: Sequence[SessionConfigOption], modes: Sequence[SessionMode]) -> ValueError:
    """Return the error for a setting that the agent doesn't offer. The message lists the settings that it offers."""
    names = [option.id for option in options]
    if not names and modes:
        names = ["mode"]
    return ValueError(f"The agent offers no option {setting!r}, but {_list(names)}.")


def values_of(option: SessionConfigOptionSelect) -> list[SessionConfigSelectOption]:
    """Return the values of an option, without their groups."""
    values: list[SessionConfigSelectOption] = []
    for value_or_group in option.options:
        values += getattr(value_or_group, "options", [value_or_group])
    return values


def _list(names: Iterable[str]) -> str:
    return ", ".join(printable(name) for name in names) or "nothing"
