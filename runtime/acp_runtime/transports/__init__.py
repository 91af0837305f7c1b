"""Byte streams for connections: stdio, subprocesses, memory, transports of applications, descriptors, threads.

Other packages may use the names that are exported here.
"""

from acp_runtime.transports.files import FileReader as FileReader, FileWriter as FileWriter
from acp_runtime.transports.signals import shutdown_signals as shutdown_signals
from acp_runtime.transports.stdio import open_reader as open_reader, take_over_stdio as take_over_stdio
from acp_runtime.transports.transport import StreamTransport as StreamTransport, Transport as Transport
