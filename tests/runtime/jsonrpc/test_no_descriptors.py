"""A method that is used for the first time when no more files can be opened: its modules can't be loaded."""

from __future__ import annotations

import sys

import pytest

from tests.support.programs import output_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program limits its open files")
_PROGRAM = """
import logging, os, resource
from acp_bindings.v1.connecting import AGENT_SIDE
from acp_runtime.jsonrpc.decoding import decoder_of

logging.disable()
decode = decoder_of(AGENT_SIDE).decode
new = b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}'
cancel = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}'
decode(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}')
resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
print(decode(new).error.code, type(decode(cancel)).__name__)
resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
print(decode(new).params.cwd, decode(cancel).params.session_id)
"""


def test_its_requests_get_an_error_and_later_ones_are_handled() -> None:
    assert output_of(_PROGRAM).splitlines() == ["-32603 Ignored", "/ s"]
