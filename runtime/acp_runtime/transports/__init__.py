"""Byte streams for connections: stdio, subprocesses, memory, asyncio streams, descriptors, threads.

`open_reader` is for other packages, too. It is loaded on first use.
"""

from typing import TYPE_CHECKING

from acp_runtime.stubs.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_runtime.transports.stdio import open_reader as open_reader
else:
    __getattr__ = lazy_exports(__name__, {"stdio": ("open_reader",)})
