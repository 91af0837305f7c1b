"""The state of a session of version 2, which its updates change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from pydantic import BaseModel

from acp_bindings.v2_draft.updates import UPDATES
from acp_bindings.v2_draft_unstable.updates import UPDATES as UNSTABLE_UPDATES
from acp_kit.updates.fields import values_of
from acp_kit.updates.merging import has_ended
from acp_kit.updates.things import Thing, Things
from acp_kit.v2.profiles import check_version, class_like
from acp_kit.v2.snapshots import Entry, Message, SessionTerminal, Snapshot
from acp_runtime.updates import Changes, Effect, Role

if TYPE_CHECKING:
    from acp_bindings import v2_draft as v2, v2_draft_unstable as v2_unstable

    Update: TypeAlias = v2.SessionUpdate | v2_unstable.SessionUpdate | v2.ToolCallUpdate

_TABLE: Final[Mapping[str, Effect]] = {**UNSTABLE_UPDATES, **UPDATES}
_KINDS: Final[Mapping[str, AbstractSet[str]]] = {
    "v2_draft": UPDATES.keys(),
    "v2_draft_unstable": UNSTABLE_UPDATES.keys(),
}
"""The kinds of updates that the models of a profile know."""
_KEPT_AS: Final[Mapping[str, Changes]] = {
    effect.thing: effect for effect in _TABLE.values() if isinstance(effect, Changes) and effect.model
}
# The fields that updates append to, as lists.
_APPENDED: Final[Mapping[str, str]] = {
    effect.thing: effect.to for effect in _TABLE.values() if isinstance(effect, Changes) and effect.appends
}
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
# The attribute of a snapshot that has these things by id.
_NAMED: Final[Mapping[str, str]] = {"tool_call": "tool_calls", "terminal": "terminals", "plan": "plans"}
_IN_TIMELINE: Final = frozenset((*_ROLES, "tool_call", "compaction"))


class SessionState:
    """A session of version 2 as its updates describe it. Call `apply` with each update, and read the attributes.

    For example:

        async def session_update(self, notification: UpdateSessionNotification) -> None:
            self.states[notification.session_id].apply(notification.update)

    Applying an update takes time proportional to the size of the update, however long the session is. The attributes
    are those of a `Snapshot` of the current state. Messages, tool calls, terminals and plans have ids, and stay where
    they began. The `_meta` of a chunk is not kept.
    """

    def __init__(self) -> None:
        self._things = Things(_TABLE)
        self._stopped: set[str] = set()
        self._snapshot: Snapshot | None = None

    def apply(self, update: Update) -> None:
        """Merge an update into the state, or the tool call of a permission request. Unknown kinds are ignored.

        Raises:
            TypeError: if the update isn't of version 2.
            ValueError: if the output of a terminal isn't base64.
        """
        profile = check_version(update)
        kind = getattr(update, "session_update", "tool_call_update")
        if kind in _KINDS[profile]:
            self._things.apply(kind, update)
            self._snapshot = None

    def stop_calls(self) -> None:
        """Mark unfinished tool calls as cancelled: see `status_of`. Call it when you cancel the session.

        Later updates still change them.
        """
        self._stopped |= {id for id, call in self.tool_calls.items() if not has_ended(call)}
        self._snapshot = None

    def snapshot(self) -> Snapshot:
        """Return the current state. It is immutable, and the same object until the next change."""
        if self._snapshot is None:
            by_kind: dict[str, dict[str, Any]] = {}
            timeline: list[Entry] = []
            for (kind, id), thing in self._things.things.items():
                if thing.view is None:
                    thing.view = _make_view(thing)
                by_kind.setdefault(kind, {})[id] = thing.view
                if kind in _IN_TIMELINE:
                    timeline.append(thing.view)
            values: dict[str, Any] = {name: by_kind.pop(kind, {}) for kind, name in _NAMED.items()}
            values |= values_of(_TABLE, self._things.settings)
            values |= {name: tuple(updates) for name, updates in self._things.lists.items()}
            self._snapshot = Snapshot(
                timeline=tuple(timeline),
                others={kind: things for kind, things in by_kind.items() if kind not in _IN_TIMELINE},
                stopped_calls=frozenset(self._stopped),
                **values,
            )
        return self._snapshot

    @property
    def timeline(self) -> Sequence[Entry]:
        """See `Snapshot`."""
        return self.snapshot().timeline

    @property
    def messages(self) -> Sequence[Message]:
        """See `Snapshot`."""
        return self.snapshot().messages

    @property
    def text(self) -> str:
        """See `Snapshot`."""
        return self.snapshot().text

    @property
    def tool_calls(self) -> Mapping[str, v2.ToolCallUpdate]:
        """See `Snapshot`."""
        return self.snapshot().tool_calls

    def status_of(self, call: v2.ToolCallUpdate) -> str:
        """See `Snapshot`."""
        return self.snapshot().status_of(call)

    @property
    def terminals(self) -> Mapping[str, SessionTerminal]:
        """See `Snapshot`."""
        return self.snapshot().terminals

    @property
    def plans(self) -> Mapping[str, v2.PlanUpdateContent]:
        """See `Snapshot`."""
        return self.snapshot().plans

    @property
    def state(self) -> v2.SessionUpdateStateUpdate | None:
        """See `Snapshot`."""
        return self.snapshot().state

    @property
    def is_idle(self) -> bool:
        """See `Snapshot`."""
        return self.snapshot().is_idle

    @property
    def config_options(self) -> Sequence[v2.SessionConfigOption]:
        """See `Snapshot`."""
        return self.snapshot().config_options

    @property
    def available_commands(self) -> Sequence[v2.AvailableCommand]:
        """See `Snapshot`."""
        return self.snapshot().available_commands

    @property
    def usage(self) -> v2.UsageUpdate | None:
        """See `Snapshot`."""
        return self.snapshot().usage

    @property
    def title(self) -> str | None:
        """See `Snapshot`."""
        return self.snapshot().title

    @property
    def updated_at(self) -> str | None:
        """See `Snapshot`."""
        return self.snapshot().updated_at

    @property
    def notices(self) -> Sequence[v2.Notice]:
        """See `Snapshot`."""
        return self.snapshot().notices

    @property
    def others(self) -> Mapping[str, Mapping[str, Any]]:
        """See `Snapshot`."""
        return self.snapshot().others


def _make_view(thing: Thing) -> Any:
    """Return what a snapshot shows of a message or a thing."""
    kind, id = thing.key
    fields = {name: value for name, value in thing.fields.items() if value is not None}
    appended: Any = None if thing.pieces is None else thing.pieces.value()
    if kind in _ROLES:
        return Message(kind, id, appended, fields.get("meta"))
    if kind == "terminal":
        known = {name: value for name, value in fields.items() if name in SessionTerminal.__dataclass_fields__}
        return SessionTerminal(id, output=appended, **known)
    effect = _KEPT_AS[kind]
    start, _, is_inside = effect.id.partition(".")
    if is_inside:
        return fields[start]
    if kind in _APPENDED:
        fields[_APPENDED[kind]] = [*appended]
    new = class_like(thing.began_with, effect.model)(**effect.new, **{effect.id: id})
    # Pydantic's own copy, because the values are valid already.
    return BaseModel.model_copy(new, update=fields)
