"""The command `serve`, with agents of each version and functions that make them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="ends the server with SIGTERM")]
_AGENTS = """
from acp_bindings import v1, v2_draft

class One(v1.Agent):
    async def initialize(self, request): return v1.InitializeResponse(protocol_version=1)
    async def session_new(self, request): raise NotImplementedError
    async def session_prompt(self, request): raise NotImplementedError
    def __init__(self, client): pass

def make(client: v1.RemoteClient) -> One: return One(client)

class Two(v2_draft.Agent):
    def __init__(self, client): pass
    async def initialize(self, request):
        return v2_draft.InitializeResponse(protocol_version=2, info=request.info, capabilities={})

Two.__abstractmethods__ = frozenset()

def unannotated(client): return One(client)
"""
_SERVE = [sys.executable, "-m", "acp_kit.remote", "serve"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents.py").write_text(_AGENTS, "utf-8")
    return tmp_path


@pytest.mark.parametrize(("agent", "version"), [("One", 1), ("make", 1), ("Two", 2)])
def test_an_agent_is_served_in_the_version_of_its_class(agent: str, version: int, folder: Path) -> None:
    command = [*_SERVE, f"agents:{agent}", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            address = server.stderr.readline().partition("http://")[2].split()[0]
            _, answer = _initialize(address, version)
        finally:
            server.terminate()
            server.stderr.read()
    assert answer["result"]["protocolVersion"] == version
    assert server.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_streams_as_they_should_end(number: signal.Signals, folder: Path) -> None:
    command = [*_SERVE, "agents:One", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            address = server.stderr.readline().partition("http://")[2].split()[0]
            id, _ = _initialize(address, 1)
            client = HTTPConnection(address)
            client.request("GET", "/acp", headers={"Accept": "text/event-stream", "Acp-Connection-Id": id})
            stream = client.getresponse()
            server.send_signal(number)
            assert stream.read().strip() == b":"
            client.close()
            log = server.stderr.read()
        finally:
            server.terminate()
    assert "Traceback" not in log
    assert server.returncode == 0


def _initialize(address: str, version: int) -> tuple[str | None, Any]:
    """Return the id of a new connection, and the answer."""
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "info": info, "capabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    client = HTTPConnection(address)
    client.request("POST", "/acp", body, {"Content-Type": "application/json"})
    response = client.getresponse()
    answer = json.loads(response.read())
    client.close()
    return response.headers["Acp-Connection-Id"], answer


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_and_its_connections_in_silence(number: signal.Signals, folder: Path) -> None:
    command = [*_SERVE, "agents:One", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = server.stderr.readline().partition("http://")[2].split()[0]
        with connect(f"ws://{address}/acp") as client:
            client.ping().wait(60)
            server.send_signal(number)
            with pytest.raises(ConnectionClosed):
                client.recv(60)
        assert server.stderr.read() == ""
    assert server.returncode == 0


def test_a_function_without_an_annotation_is_refused(folder: Path) -> None:
    done = subprocess.run([*_SERVE, "agents:unannotated"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "annotated" in done.stderr


def test_a_port_in_use_is_reported(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [*_SERVE, "agents:One", "--port", port]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"acp_kit.remote: 127.0.0.1 port {port} can't be listened on: ")
    assert done.stderr.count("\n") == 1
