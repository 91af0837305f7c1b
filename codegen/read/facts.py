"""What the runtime has to know of a method beyond its name and models: the facts in `methods.toml`, as it reads them.

Each fact names properties of the schema. A fact about a property that this schema doesn't have is left out, because
the file covers every release; `codegen.read.unused_facts` makes sure that the pinned schemas have all of them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, TypeAlias

from codegen.errors import SchemaError
from codegen.names import attribute_name
from codegen.read.instances import is_instance

# The keyword of the runtime's `Request` or `Notification`, and its value.
Facts: TypeAlias = tuple[tuple[str, Any], ...]


_OF_REQUESTS, _OF_NOTIFICATIONS = frozenset({"opens", "creates", "gone", "cancelled"}), frozenset({"cancels"})
THERE = "Correct it there."


class FactReader:
    """Reads the facts of one schema's methods.

    Args:
        definitions: of the schema.
        session: the property that names the session of a message.
        methods: each name on the wire, whether it is a notification, and its params.
    """

    def __init__(self, definitions: dict[str, Any], session: str, methods: Collection[tuple[str, bool, str]]) -> None:
        self._definitions = definitions
        self._session = session
        self._notifications = {wire: params for wire, is_notification, params in methods if is_notification}
        # Names of a request and of a notification: each of them takes what it can of their line.
        self._both = self._notifications.keys() & {wire for wire, is_notification, _ in methods if not is_notification}

    def read(self, data: dict[str, Any], wire: str, params: str, result: str | None) -> Facts:
        """The facts of a method's line."""
        place = f"codegen/methods.toml {wire!r}"
        others = _OF_REQUESTS if result is None else _OF_NOTIFICATIONS
        unfit = sorted(data.keys() & others)
        if unfit and wire not in self._both:
            kind, other = ("notification", "request") if result is None else ("request", "notification")
            raise _error(params, f"{place}: `{unfit[0]}` is about a {other}, and {wire} is a {kind}.")
        line = {key: value for key, value in data.items() if key not in others}
        sent, answer = self._definitions[params], self._definitions.get(result or "", {})
        found: list[tuple[str, Any]] = [(key, line[key]) for key in ("opens", "gone") if key in line]
        if "gone" in line and answer.get("required"):
            missing = answer["required"][0]
            raise _error(result or "", f"{place}: `gone` gives callers an empty result, and {missing!r} is required.")
        for key, definition in (("creates", answer), ("ends", sent), ("exempt", sent), ("cancels", sent)):
            if key in line and _has(definition, line[key]):
                found.append((key, attribute_name(line[key])))
        cancelled = line.get("cancelled")
        if cancelled and all(_has(answer, key) for key in cancelled["result"]):
            self._check_cancelled(cancelled, place, result or "")
            found.append(("cancelled", (cancelled["by"], json.dumps(cancelled["result"], separators=(",", ":")))))
        paths = tuple(attribute_name(path) for path in line.get("paths", ()) if _has(sent, path))
        return (*found, *((("paths", paths),) if paths else ()))

    def _check_cancelled(self, cancelled: dict[str, Any], place: str, result: str) -> None:
        by, answer = cancelled["by"], cancelled["result"]
        params = self._definitions.get(self._notifications.get(by, ""))
        if params is None:
            known = ", ".join(sorted(self._notifications)) or "none"
            raise _error(result, f"{place}: `cancelled` names {by!r}, and the notifications here are {known}.")
        if not _has(params, self._session):
            raise _error(
                self._notifications[by], f"{place}: `cancelled` names {by!r}, which has no {self._session!r} here."
            )
        if not is_instance(answer, self._definitions[result], self._definitions):
            raise _error(result, f"{place}: the result of `cancelled`, {json.dumps(answer)}, is not one of these.")


def _error(definition: str, message: str) -> SchemaError:
    return SchemaError(f"/$defs/{definition}", message, then=THERE)


def _has(definition: dict[str, Any], key: str) -> bool:
    return key in definition.get("properties", {}) and attribute_name(key) is not None
