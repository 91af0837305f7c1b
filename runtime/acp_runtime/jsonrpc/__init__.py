"""Bytes to messages and back, without I/O.

The names here are for other packages, too: what a connection makes of a line, JSON with lone surrogates, and the memory
that it takes. They are loaded on first use.
"""

from typing import TYPE_CHECKING

from acp_runtime.stubs.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_runtime.jsonrpc.decoding import check_line as check_line
    from acp_runtime.jsonrpc.encoding import dump as dump
    from acp_runtime.jsonrpc.framing import memory_of as memory_of
    from acp_runtime.jsonrpc.messages import CheckedLine as CheckedLine
    from acp_runtime.jsonrpc.strict_json import ANY as ANY, parse as parse, read as read, write as write
else:
    _HOMES = {
        "decoding": ("check_line",),
        "encoding": ("dump",),
        "framing": ("memory_of",),
        "messages": ("CheckedLine",),
        "strict_json": ("ANY", "parse", "read", "write"),
    }
    __getattr__ = lazy_exports(__name__, _HOMES)
