"""Messages as lines that strict parsers refuse."""

from __future__ import annotations

import json
from typing import Any

TOO_DEEP = 1000
FAR_TOO_DEEP = 200_000
END = b"}" * FAR_TOO_DEEP


def nested(levels: int) -> Any:
    """Return a list nested this many levels deep."""
    value: Any = "the bottom"
    for _ in range(levels):
        value = [value]
    return value


def nested_json(levels: int) -> bytes:
    return b"[" * levels + b'"the bottom"' + b"]" * levels


# Changes after which a line is not JSON.
DAMAGE = {
    "NaN": lambda line: line.replace(b'"hunter2"', b"NaN"),
    "Infinity": lambda line: line.replace(b'"hunter2"', b"[1, -Infinity]"),
    "NaN beside a lone surrogate": lambda line: line.replace(b'"hunter2"', rb'["\ud83d", NaN]'),
    "1000 levels": lambda line: line.replace(b'"hunter2"', nested_json(TOO_DEEP)),
    "an integer of 6000 digits": lambda line: line.replace(b'"hunter2"', b"7" * 6000),
    "a bad byte": lambda line: line.replace(b"hunter2", b"hun\xffter2"),
    "a bad byte beside a lone surrogate": lambda line: line.replace(b"hunter2", b"\\ud83d\xff"),
    "half a surrogate pair in UTF-8": lambda line: line.replace(b"hunter2", b"hun\xed\xa0\xbdter2"),
    "a raw NUL": lambda line: line.replace(b"hunter2", b"hun\x00ter2"),
    "cut off": lambda line: line[: line.index(b"hunter2") + 3],
    "a brace too many": lambda line: line + b"}",
    "a brace too few": lambda line: line[:-1],
    "two objects": lambda line: line + b'{"jsonrpc":"2.0","method":"_x"}',
    "trailing text": lambda line: line + b" hunter2",
    "a bad escape": lambda line: line.replace(b"hunter2", b"hun\\xter2"),
    "a trailing comma": lambda line: line[:-1] + b",}",
    "200000 levels": lambda line: line.replace(b'"hunter2"', nested_json(FAR_TOO_DEEP)),
    "200000 levels of objects": lambda line: line.replace(b'"hunter2"', b'{"a":' * FAR_TOO_DEEP + b"1" + END),
    "levels that don't close": lambda line: line.replace(b'"hunter2"', b"[" * FAR_TOO_DEEP),
}  # fmt: skip


def message(**members: Any) -> bytes:
    """Return the line of a message. Members that are bytes are inserted unchanged."""
    parts = [
        b"%b:%b" % (json.dumps(name).encode(), value if isinstance(value, bytes) else json.dumps(value).encode())
        for name, value in members.items()
    ]
    return b'{"jsonrpc":"2.0",%b}' % b",".join(parts)
