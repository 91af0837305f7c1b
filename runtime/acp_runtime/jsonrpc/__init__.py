"""Bytes to messages and back, without I/O.

The names here are for other packages, too: JSON with lone surrogates and deep nesting. They are loaded on first use.
"""

from typing import TYPE_CHECKING

from acp_runtime.stubs.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_runtime.jsonrpc.encoding import dump as dump
    from acp_runtime.jsonrpc.surrogates_and_depth import validate as validate
    from acp_runtime.jsonrpc.tolerant import Unreadable as Unreadable, parse as parse
else:
    __getattr__ = lazy_exports(
        __name__,
        {"encoding": ("dump",), "surrogates_and_depth": ("validate",), "tolerant": ("Unreadable", "parse")},
    )
