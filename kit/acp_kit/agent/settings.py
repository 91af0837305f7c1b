"""The modes and config options of a session. Options are declared once; the modes are one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from acp_bindings import v1
from acp_kit.common.config_options import check_value, values_of
from acp_kit.common.profiles import convert, like
from acp_runtime import ABSENT, InvalidParams

if TYPE_CHECKING:
    from acp_kit.agent.session_base import SessionBase


def select(
    id: str,
    name: str,
    values: Mapping[str, str] | Sequence[v1.SessionConfigSelectOption],
    *,
    current: str | None = None,
    category: v1.SessionConfigOptionCategory | None = None,
    description: str | None = None,
) -> v1.SessionConfigOptionSelect:
    """Return an option with a fixed set of values.

    Args:
        id: its id.
        name: what the user sees.
        values: the name of each value, by the value's id; or the values with their descriptions.
        current: the initial value; without it, the first.
        category: its category. The option with the category `mode` is also offered as the session's modes.
        description: more for the user.

    Raises:
        ValueError: if there are no values.
    """
    if not values:
        raise ValueError(f"The option {id!r} needs at least one value")
    if isinstance(values, Mapping):
        options = [v1.SessionConfigSelectOption(value=value, name=text) for value, text in values.items()]
    else:
        options = [*values]
    return v1.SessionConfigOptionSelect(
        id=id,
        name=name,
        options=options,
        current_value=options[0].value if current is None else current,
        category=_or_absent(category),
        description=_or_absent(description),
    )


def toggle(
    id: str,
    name: str,
    *,
    current: bool = False,
    category: v1.SessionConfigOptionCategory | None = None,
    description: str | None = None,
) -> v1.SessionConfigOptionBoolean:
    """Return an option that is on or off. It is hidden from clients that don't support such options.

    Args:
        id: its id.
        name: what the user sees.
        current: whether it is initially on.
        category: its category.
        description: more for the user.
    """
    return v1.SessionConfigOptionBoolean(
        id=id, name=name, current_value=current, category=_or_absent(category), description=_or_absent(description)
    )


def _or_absent(value: str | None) -> Any:
    return ABSENT if value is None else value


class Settings:
    """The modes and config options of one session.

    Put `modes` and `config_options` into the responses of `session/new`, `session/load` and `session/resume`, and let
    `session_set_mode` and `session_set_config_option` return what `set_mode` and `set_config_option` return. Current
    values are items: `settings["model"]`. If the session keeps a history, changes are recorded in it.

    Attributes:
        session: the session.
    """

    def __init__(
        self,
        session: SessionBase,
        options: Iterable[v1.SessionConfigOption],
        *,
        current: Mapping[str, str | bool] | None = None,
    ) -> None:
        """Make the settings of a session.

        Args:
            session: the session.
            options: the options with their initial values, such as `select(...)` and `toggle(...)` return.
            current: the values of a session that is loaded, by the ids of the options. Values that the options no
                longer offer are ignored.

        Raises:
            ValueError: if two options have the same id, or an option doesn't offer its initial value.
        """
        self.session: SessionBase = session
        self._options: dict[str, v1.SessionConfigOption] = {}
        for option in options:
            if option.id in self._options:
                raise ValueError(f"Two options have the id {option.id!r}")
            self._options[option.id] = convert(session.client, option)
            self._check(option.id, option.current_value)
        for config_id, value in (current or {}).items():
            with suppress(ValueError):
                self._change(config_id, value)

    def __getitem__(self, config_id: str) -> str | bool:
        """Return the current value of an option. Raises KeyError if there is no such option."""
        return self._options[config_id].current_value

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    @property
    def mode(self) -> str | None:
        """The current mode: the value of the option with the category `mode`. None if there is none."""
        option = self._mode_option()
        return None if option is None else option.current_value

    @property
    def modes(self) -> v1.SessionModeState | None:
        """The modes, for clients that know no config options. None if no option has the category `mode`."""
        option = self._mode_option()
        if option is None:
            return None
        client = self.session.client
        mode = like(client, v1.SessionMode)
        return like(client, v1.SessionModeState)(
            current_mode_id=option.current_value,
            available_modes=[
                mode(id=value.value, name=value.name, description=_or_absent(value.description))
                for value in values_of(option)
            ],
        )

    @property
    def config_options(self) -> list[v1.SessionConfigOption]:
        """All options with their current values. Toggles are left out if the client doesn't support them."""
        return [option for option in self._options.values() if option.type == "select" or self._supports_toggles()]

    async def set(self, config_id: str, value: str | bool) -> None:
        """Change an option on the agent's own initiative, and tell the client.

        Raises:
            ValueError: if there is no such option, or it doesn't offer that value.
        """
        self._change(config_id, value)
        await self.session.send(self._options_update())
        if self._is_mode(config_id):
            await self.session.send(self._mode_update())

    async def set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        """Answer `session/set_mode`.

        Raises:
            InvalidParams: if there is no such mode.
        """
        option = self._mode_option()
        if option is None:
            raise InvalidParams("This session has no modes", {"modeId": request.mode_id})
        self._change_for_client(option.id, request.mode_id, {"modeId": request.mode_id})
        await self.session.send(self._options_update())
        await self.session.record(self._mode_update())
        return like(request, v1.SetSessionModeResponse)()

    async def set_config_option(self, request: v1.SetSessionConfigOptionRequest) -> v1.SetSessionConfigOptionResponse:
        """Answer `session/set_config_option`.

        Raises:
            InvalidParams: if there is no such option, or it doesn't offer that value.
        """
        self._change_for_client(request.config_id, request.value, {"configId": request.config_id})
        if self._is_mode(request.config_id):
            await self.session.send(self._mode_update())
        await self.session.record(self._options_update())
        return like(request, v1.SetSessionConfigOptionResponse)(config_options=self.config_options)

    def _change_for_client(self, config_id: str, value: str | bool, data: dict[str, str]) -> None:
        try:
            self._change(config_id, value)
        except ValueError as error:
            raise InvalidParams(str(error), data) from error

    def _change(self, config_id: str, value: str | bool) -> None:
        self._check(config_id, value)
        self._options[config_id] = self._options[config_id].model_copy(update={"current_value": value})

    def _check(self, config_id: str, value: str | bool) -> None:
        option = self._options.get(config_id)
        if option is None:
            raise ValueError(f"There is no option {config_id!r}. There are: {', '.join(self._options) or 'none'}")
        check_value(option, value)

    def _mode_option(self) -> v1.SessionConfigOptionSelect | None:
        for option in self._options.values():
            if option.type == "select" and option.category == "mode":
                return option
        return None

    def _is_mode(self, config_id: str) -> bool:
        option = self._mode_option()
        return option is not None and option.id == config_id

    def _supports_toggles(self) -> bool:
        capabilities = self.session.client.capabilities
        session = capabilities and capabilities.session
        options = session and session.config_options
        return bool(options and options.boolean is not None)

    def _options_update(self) -> v1.SessionUpdateConfigOptionUpdate:
        cls = like(self.session.client, v1.SessionUpdateConfigOptionUpdate)
        return cls(config_options=self.config_options)

    def _mode_update(self) -> v1.SessionUpdateCurrentModeUpdate:
        return like(self.session.client, v1.SessionUpdateCurrentModeUpdate)(current_mode_id=self.mode or "")
