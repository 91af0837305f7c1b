"""Reads the facts of `methods.toml` that the runtime acts on, and checks them against the schema.

A fact names properties of the schema. One about a property that this schema doesn't have is dropped, because the file
covers every release; `codegen.read.unused_facts` checks that the pinned schemas have all of them, and their values.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, TypeAlias

from codegen.errors import SchemaError
from codegen.names import attribute_name
from codegen.read.facts_file import FILE

# Keywords of the runtime's `Request` or `Notification`, and their values.
Facts: TypeAlias = tuple[tuple[str, Any], ...]

_OF_REQUESTS, _OF_NOTIFICATIONS = frozenset({"opens", "creates", "gone", "cancelled"}), frozenset({"cancels"})
CORRECT = "Correct the entry."


class FactReader:
    """Reads the facts of one schema's methods.

    Args:
        definitions: the schema's `$defs`.
        session: the property that holds the session id of a message.
        methods: each method's name on the wire, whether it is a notification, and the definition of its params.
    """

    def __init__(self, definitions: dict[str, Any], session: str, methods: Collection[tuple[str, bool, str]]) -> None:
        self._definitions = definitions
        self._session = session
        self._notifications = {wire: params for wire, is_notification, params in methods if is_notification}
        # Names that both a request and a notification have. They share an entry, and each takes the facts that fit it.
        self._both = self._notifications.keys() & {wire for wire, is_notification, _ in methods if not is_notification}

    def read(self, entry: dict[str, Any], wire: str, params: str, result: str | None) -> Facts:
        """Return the facts of a method's entry whose properties this schema has."""
        place = f"{FILE} {wire!r}"
        others = _OF_REQUESTS if result is None else _OF_NOTIFICATIONS
        unfit = sorted(entry.keys() & others)
        if unfit and wire not in self._both:
            kind, other = ("notification", "request") if result is None else ("request", "notification")
            raise _error(params, f"{place}: `{unfit[0]}` is for a {other}, but {wire} is a {kind}.")
        own = {key: value for key, value in entry.items() if key not in others}
        sent, returned = self._definitions[params], self._definitions.get(result or "", {})
        found: list[tuple[str, Any]] = [(key, own[key]) for key in ("opens", "gone") if key in own]
        if "gone" in own and returned.get("required"):
            missing = returned["required"][0]
            raise _error(result or "", f"{place}: `gone` gives callers an empty result, but {missing!r} is required.")
        for key, definition in (("creates", returned), ("ends", sent), ("exempt", sent), ("cancels", sent)):
            if key in own and _has(definition, own[key]):
                found.append((key, attribute_name(own[key])))
        cancelled = own.get("cancelled")
        if cancelled and all(_has(returned, key) for key in cancelled["result"]):
            self._check_cancelled(cancelled["by"], place, result or "")
            result_json = json.dumps(cancelled["result"], separators=(",", ":"))
            found.append(("cancelled", (cancelled["by"], result_json, cancelled.get("by_id", False))))
        paths = tuple(attribute_name(path) for path in own.get("paths", ()) if _has(sent, path))
        return (*found, *((("paths", paths),) if paths else ()))

    def _check_cancelled(self, by: str, place: str, result: str) -> None:
        params = self._definitions.get(self._notifications.get(by, ""))
        if params is None:
            known = ", ".join(sorted(self._notifications)) or "none"
            raise _error(result, f"{place}: `cancelled` names {by!r}, but the notifications here are {known}.")
        if not _has(params, self._session):
            message = f"{place}: `cancelled` names {by!r}, but its params have no {self._session!r}."
            raise _error(self._notifications[by], message)


def _error(definition: str, message: str) -> SchemaError:
    return SchemaError(f"/$defs/{definition}", message, next_step=CORRECT)


def _has(definition: dict[str, Any], key: str) -> bool:
    return key in definition.get("properties", {}) and attribute_name(key) is not None
