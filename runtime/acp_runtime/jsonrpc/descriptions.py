"""What is said of a line that can't be read (rule 30)."""

from __future__ import annotations

import re

from acp_runtime.escaping import printable

# How a message or a piece of one begins, and what shows a piece of one that begins inside of a text.
# Compiled when they are needed, since a program starts earlier without.
_BEGINS_LIKE_JSON = (
    rb"[\s\xef\xbb\xbf]*"
    rb"(?:[{}\]\",:]|\[(?!\s*[A-Za-z])|-?[0-9]|\[?\s*(?:true|false|null|NaN|-?Infinity)\b)"
)
_HAS_JSON = rb'"[ \t]*[:,}\]]|\x00'


def describe(line: bytes, reason: str) -> str:
    """What is said of a line that isn't JSON. It is quoted only if it can't be a message or a piece of one."""
    about = f"{len(line)} bytes that are not JSON ({reason})"
    if re.match(_BEGINS_LIKE_JSON, line) or re.search(_HAS_JSON, line):
        return about
    return f"{about}: {printable(line)}"
