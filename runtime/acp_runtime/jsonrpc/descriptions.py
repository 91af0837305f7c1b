"""Describes unreadable lines for the log, without leaking messages (rule 30)."""

from __future__ import annotations

import re

from acp_runtime.escaping import printable

# The first matches the start of a message or of a fragment; the second finds fragments that start inside a string.
# Compiled on first use, to keep start-up fast.
_BEGINS_LIKE_JSON = (
    rb"[\s\xef\xbb\xbf]*"
    rb"(?:[{}\]\",:]|\[(?!\s*[A-Za-z])|-?[0-9]|\[?\s*(?:true|false|null|NaN|-?Infinity)\b)"
)
_HAS_JSON = rb'"[ \t]*[:,}\]]|\x00'
_MESSAGE = b'{"jsonrpc":'


def describe(line: bytes, reason: str) -> str:
    """Describe a line that isn't JSON. It is quoted only if it can't be a message or a fragment of one."""
    description = f"{len(line)} bytes that are not JSON ({reason})"
    if re.match(_BEGINS_LIKE_JSON, line):
        return description
    if _MESSAGE in line:
        return f"{description}: a message, and before it on the same line other text, which was perhaps printed"
    if re.search(_HAS_JSON, line):
        return description
    return f"{description}: {printable(line)}"
