"""Logs what leniency drops from a message: invalid values where the schema has them left out (rule 30).

pydantic-core drops them without a trace. While the logger is at DEBUG, the JSON of each model is compared with what was
received.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from logging import DEBUG, getLogger
from typing import Any, TypeAlias

from acp_runtime.jsonrpc.encoding import to_plain_json
from acp_runtime.jsonrpc.error_responses import path_of
from acp_runtime.jsonrpc.strict_json import parse
from acp_runtime.logs import log
from acp_runtime.models.json_values import as_array, as_object
from acp_runtime.stubs.methods import AnyMethod

Path: TypeAlias = tuple[int | str, ...]

# How many dropped values of a message are logged. A peer chooses how many there are.
_MOST = 10

_logger = getLogger(__name__)


def log_dropped(method: AnyMethod, member: str, line: bytes, model: Any) -> None:
    """Log the path and the type of the first dropped values, and how many more there are.

    Args:
        method: the method of the message. An extension's models have no leniency.
        member: the member of the message that is the model, "params" or "result".
        line: the message.
        model: what the member was read as.
    """
    if method.side == "extension":
        return
    dropped = _find_dropped((member,), parse(line).get(member), to_plain_json(model))
    for path, kind in islice(dropped, _MOST):
        log(_logger, DEBUG, "Dropped %s of %s: an invalid %s", path_of(path), method.wire, kind.__name__)
    if more := sum(1 for _ in dropped):
        log(_logger, DEBUG, "Dropped %s more invalid values of %s", more, method.wire)


def _find_dropped(path: Path, sent: Any, kept: Any) -> Iterator[tuple[Path, type]]:
    """Yield the paths and types of the values that were sent and not kept. A null counts as absent."""
    members, items = as_object(sent), as_array(sent)
    kept_members, kept_items = as_object(kept), as_array(kept)
    if members is not None and kept_members is not None:
        for name, value in members.items():
            if name in kept_members:
                yield from _find_dropped((*path, name), value, kept_members[name])
            elif value is not None:
                yield (*path, name), type(value)
    elif items is not None and kept_items is not None:
        left = deque(kept_items)
        for index, item in enumerate(items):
            if left and _may_be_left(left[0], item):
                yield from _find_dropped((*path, index), item, left.popleft())
            else:
                yield (*path, index), type(item)
    elif kept_items is not None and sent is not None:
        yield path, type(sent)


def _may_be_left(kept: Any, sent: Any) -> bool:
    """Whether a value may be what is left of an item of a list."""
    members, kept_members = as_object(sent), as_object(kept)
    if members is None or kept_members is None:
        return bool(kept == sent)
    return all(name in members and _may_be_left(value, members[name]) for name, value in kept_members.items())
