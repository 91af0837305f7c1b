"""Byte streams for connections: stdio, subprocesses, memory, transports of applications, descriptors, threads.

`Transport` and `open_reader` are for other packages, too. They are loaded on first use.
"""

from typing import TYPE_CHECKING

from acp_runtime.stubs.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_runtime.transports.stdio import open_reader as open_reader
    from acp_runtime.transports.transport import Transport as Transport
else:
    __getattr__ = lazy_exports(__name__, {"stdio": ("open_reader",), "transport": ("Transport",)})
