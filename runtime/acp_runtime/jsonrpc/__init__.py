"""Bytes to messages and back, without I/O. Other packages may use the names that are exported here."""

from acp_runtime.jsonrpc.decoding import check_line as check_line
from acp_runtime.jsonrpc.encoding import dump as dump
from acp_runtime.jsonrpc.error_responses import sole_error as sole_error
from acp_runtime.jsonrpc.framing import memory_of as memory_of
from acp_runtime.jsonrpc.messages import CheckedLine as CheckedLine
from acp_runtime.jsonrpc.strict_json import ANY as ANY, parse as parse, read as read, write as write
