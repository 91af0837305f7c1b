"""The commands `serve` and `connect`, and the programs of the guide."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from acp_kit.__main__ import main
from tests.support.docs.blocks import DOCS, blocks
from tests.support.programs import Program, run_program

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.xdist_group("acp_kit.remote"),
    pytest.mark.skipif(sys.platform == "win32", reason="ends the server with SIGTERM"),
]
_GUIDE = DOCS / "guides" / "remote-agents.md"
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
_RAISING = "import json\n\njson.loads('{')\n"
_TOKEN = {"ACP_TOKEN": "a long random text"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs of the guide, and with agents."""
    folder = tmp_path_factory.mktemp("remote")
    for block in blocks(_GUIDE):
        if block.file_name:
            (folder / block.file_name).write_text(block.text, "utf-8")
    (folder / "agents.py").write_text(_AGENTS, "utf-8")
    (folder / "raising.py").write_text(_RAISING, "utf-8")
    (folder / "importing.py").write_text("import raising\n", "utf-8")
    return folder


@contextmanager
def _served(folder: Path, agent: str, *options: str, **environment: str) -> Iterator[tuple[Program, str]]:
    """Serve an agent of the folder. Yield the server, and its host and port."""
    server = Program("-m", "acp_kit", "serve", agent, "--port", "0", *options, cwd=folder, env=environment)
    try:
        yield server, server.stderr.readline().decode().partition("http://")[2].partition("/")[0]
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The host and port of the guide's agent."""
    with _served(folder, "remote_agent:EchoAgent") as (_, address):
        yield address


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_the_client_of_the_guide_prints_the_answer_of_its_agent(scheme: str, folder: Path, address: str) -> None:
    done = run_program("remote_client.py", f"{scheme}://{address}/acp", cwd=folder)
    assert done == (0, b"agent: Hello\n", b"")


def test_the_bridge_passes_messages_on_over_websocket(address: str) -> None:
    opening = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
    command = ("-m", "acp_kit", "connect", f"ws://{address}/acp")
    code, stdout, stderr = run_program(*command, input=opening)
    assert (code, stderr) == (0, b"")
    assert json.loads(stdout)["result"]["protocolVersion"] == 1


@pytest.mark.parametrize(
    ("agent", "version", "number"), [("One", 1, signal.SIGINT), ("make", 1, signal.SIGTERM), ("Two", 2, signal.SIGTERM)]
)
def test_an_agent_is_served_in_the_version_of_its_class_until_a_signal(
    agent: str, version: int, number: signal.Signals, folder: Path
) -> None:
    with _served(folder, f"agents:{agent}") as (server, address), connect(f"ws://{address}/acp") as websocket:
        websocket.ping().wait(60)
        id, answer = _initialize(address, version)
        assert answer["result"]["protocolVersion"] == version
        client = HTTPConnection(address)
        client.request("GET", "/acp", headers={"Accept": "text/event-stream", "Acp-Connection-Id": id})
        stream = client.getresponse()
        server.send_signal(number)
        assert stream.read().strip() == b":", "the stream ends as it should end"
        client.close()
        with pytest.raises(ConnectionClosed):
            websocket.recv(60)
        assert server.stderr.read() == b""
        assert server.wait(60) == 0


@pytest.mark.parametrize("header", [None, "Bearer another text", "Bearer", "Basic a long random text"])
def test_without_its_token_a_server_refuses_to_open_a_connection(header: str | None, private: str) -> None:
    headers = {} if header is None else {"Authorization": header}
    client = HTTPConnection(private)
    client.request("POST", "/acp", "{}", {"Content-Type": "application/json", **headers})
    response = client.getresponse()
    assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "Authorization: Bearer TOKEN" in json.loads(response.read())["error"]["message"]
    client.close()
    with pytest.raises(InvalidStatus) as refused, connect(f"ws://{private}/acp", additional_headers=headers):
        pass
    assert refused.value.response.status_code == 401
    assert refused.value.response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_the_bridge_and_a_server_have_their_token_from_a_variable(scheme: str, private: str) -> None:
    opening = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
    command = ("-m", "acp_kit", "connect", f"{scheme}://{private}/acp", "--token-env", "ACP_TOKEN")
    code, stdout, stderr = run_program(*command, input=opening, env=_TOKEN)
    assert (code, stderr) == (0, b"")
    assert json.loads(stdout)["result"]["protocolVersion"] == 1


@pytest.fixture(scope="module")
def private(folder: Path) -> Iterator[str]:
    """The host and port of a server that asks for a token."""
    with _served(folder, "agents:One", "--token-env", "ACP_TOKEN", **_TOKEN) as (_, address):
        yield address


def _initialize(address: str, version: int) -> tuple[str, Any]:
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


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["connect"], "URL"),
        (["connect", "http://h", "--header", "secret"], "Name: value"),
        (["connect", "http://h", "--header-from-env", "secret"], "Name=VARIABLE"),
        (["connect", "http://h", "--header-from-env", "Authorization=ACP_UNSET"], "ACP_UNSET is not set"),
        (["connect", "http://h", "--token-env", "ACP_UNSET"], "ACP_UNSET is not set"),
        (["connect", "ftp://user:secret@h/"], "ws:, wss:, http: or https:"),
        (["connect", "ws:///acp"], "a URL such as wss://example.org/acp"),
        (["serve", "agents"], "write module:Class"),
        (["serve", "no_such_module:Agent"], "No module named"),
        (["serve", "agents:v1"], "not a class derived from an Agent"),
        (["serve", "agents:unannotated"], "annotated"),
        (["serve", "agents:One", "--host", "0.0.0.0"], "--allow-host"),
        (["serve", "agents:One", "--host", "0.0.0.0", "--allow-host", "h"], "pass --token-env, or --anonymous to"),
        (["serve", "agents:One", "--allow-host", "example.org:8000"], "'example.org:8000' is not a host name"),
        (["serve", "agents:One", "--path", "acp"], "a path that begins with /"),
        (["serve", "agents:One", "--path", "/{acp}"], "a path that begins with /"),
        (["serve", "agents:One", "--token-env", "ACP_UNSET"], "ACP_UNSET is not set"),
        (["serve", "agents:One", "--token-env", "ACP_EMPTY"], "ACP_EMPTY is not set, or it is empty"),
        (["serve", "agents:One", "--token-env", "ACP_SNOWMAN"], "ACP_SNOWMAN has characters that a header can't"),
        (["serve", "agents:One", "--log-level", "loud"], "invalid choice"),
        (["serve", "raising:Agent"], "raising.py:3: JSONDecodeError: "),
        (["serve", "importing:Agent"], "raising.py:3: JSONDecodeError: "),
    ],
)
def test_wrong_arguments_are_explained(
    arguments: list[str],
    complaint: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("ACP_EMPTY", " ")
    monkeypatch.setenv("ACP_SNOWMAN", "secret \u2603")
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert complaint in stderr
    assert "secret" not in stderr


def test_a_port_in_use_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        stderr = _unserved(["--port", port], folder, capsys, monkeypatch)
    assert stderr.startswith(f"acp-bindings serve: can't listen on 127.0.0.1 port {port}: Address already in use")
    assert stderr.count("\n") == 1


@pytest.mark.parametrize("options", [["--token-env", "ACP_TOKEN"], ["--anonymous"]])
def test_other_machines_are_served_with_a_token_or_a_word(
    options: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_TOKEN", "a long random text")
    arguments = ["--host", "host.invalid", "--allow-host", "example.org", *options]
    assert "can't listen on host.invalid" in _unserved(arguments, folder, capsys, monkeypatch)


def _unserved(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> str:
    """Return what `serve` writes to stderr when it can't listen."""
    monkeypatch.syspath_prepend(folder)
    assert main(["serve", "agents:One", *arguments]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("missing", ["httpx2", "uvicorn"])
def test_a_package_that_is_missing_is_one_line(
    missing: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    stderr = _unserved([], folder, capsys, monkeypatch)
    command = "pip install 'acp-bindings[remote]'"
    needs = f"acp-bindings serve needs the package {missing}, which you get with: {command}"
    assert stderr == f"acp-bindings: {needs}\n"
