"""Byte streams for connections: stdio, subprocesses, memory, transports of applications, descriptors, threads.

The names here are for other packages, too. They are loaded on first use.
"""

from typing import TYPE_CHECKING

from acp_runtime.stubs.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_runtime.transports.files import FileReader as FileReader, FileWriter as FileWriter
    from acp_runtime.transports.signals import shutdown_signals as shutdown_signals
    from acp_runtime.transports.stdio import open_reader as open_reader, take_over_stdio as take_over_stdio
    from acp_runtime.transports.transport import StreamTransport as StreamTransport, Transport as Transport
else:
    _HOMES = {
        "files": ("FileReader", "FileWriter"),
        "signals": ("shutdown_signals",),
        "stdio": ("open_reader", "take_over_stdio"),
        "transport": ("StreamTransport", "Transport"),
    }
    __getattr__ = lazy_exports(__name__, _HOMES)
