"""A scenario: a conversation with the program under test, and the rule that it checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from inspect import getdoc
from typing import Any, Literal, TypeAlias

from acp_kit.checking.peer import Version

Level = Literal["MUST", "SHOULD"]
Play: TypeAlias = Callable[[Any], Awaitable[None]]

_SITE = "https://agentclientprotocol.com/protocol"


@dataclass(frozen=True)
class Scenario:
    """A conversation, and the rule that it checks.

    Attributes:
        id: its name.
        level: whether the program must or should follow the rule. SHOULD, too, if the specification is silent.
        rule: the rule of the specification, in our words.
        page: the page of the rule in version 1.
        play: plays the conversation. Raises `Violation` or `Skipped`.
        has_user: whether a client has a user, who doesn't answer when the client asks for permission.
        loads: whether a client is started so that it loads a session.
        versions: the versions of the protocol that have the rule.
    """

    id: str
    level: Level
    rule: str
    page: str
    play: Play
    has_user: bool = False
    loads: bool = False
    versions: Collection[Version] = (1, 2)

    def url(self, version: Version) -> str:
        """Return the address of the page."""
        page = self.page if version == 1 else self.page.replace("prompt-turn", "prompt-lifecycle")
        return f"{_SITE}/v{version}/{page}"


class Scenarios(dict[str, Scenario]):
    """Scenarios by their ids."""

    def add(
        self, level: Level, page: str, *, around: Callable[[Play], Play] | None = None, **facts: Any
    ) -> Callable[[Play], None]:
        """Return a decorator that adds a scenario. The function's name is its id, the docstring its rule.

        Args:
            level: see `Scenario`.
            page: see `Scenario`.
            around: returns the whole conversation, given the function that plays a part of it.
            **facts: see `Scenario`.
        """

        def add(function: Any) -> None:
            id = function.__name__.replace("_", "-")
            play = function if around is None else around(function)
            self[id] = Scenario(id=id, level=level, rule=getdoc(function) or "", page=page, play=play, **facts)

        return add

    def include(self, others: Scenarios, around: Callable[[Play], Play]) -> None:
        """Add other scenarios. `around` returns the whole conversation, given the function that plays a part of it."""
        for id, scenario in others.items():
            self[id] = replace(scenario, play=around(scenario.play))
