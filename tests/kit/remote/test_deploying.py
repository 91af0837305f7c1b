"""The commands and the proxy of the page about deploying."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.kit.remote.server.hostile_server import frame
from tests.support.docs.blocks import DOCS, blocks
from tests.support.kit.deployment import balancer
from tests.support.kit.remote_servers import EVENTS, INITIALIZE
from tests.support.skipping import skip_or_fail, skip_without
from tools.paths import ROOT
from tools.third_party import UnavailableError, pypi_package

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.xdist_group("acp_kit.remote"),
    pytest.mark.skipif(sys.platform == "win32", reason="ends servers with SIGTERM"),
]
_PAGE = DOCS / "guides" / "deploying-agents.md"
_HOST = "agents.example.org"
_TOKEN = {"Authorization": "Bearer a long random text"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the programs of the page before."""
    for block in blocks(DOCS / "guides" / "remote-agents.md"):
        if block.file_name:
            (tmp_path / block.file_name).write_text(block.text, "utf-8")
    return tmp_path


@contextmanager
def _running(folder: Path, program: str) -> Generator[tuple[subprocess.Popen[str], int]]:
    """Run a program of the page before on a free port. Yield the process, and its port."""
    path = folder / program
    path.write_text(path.read_text("utf-8").replace("port=8000", 'port=0, log_level="info"'), "utf-8")
    server = subprocess.Popen([sys.executable, program], cwd=folder, stderr=subprocess.PIPE, text=True)
    with server:
        assert server.stderr is not None
        try:
            listening = next(line for line in server.stderr if "Listening on" in line)
            yield server, int(re.findall(r"\d+", listening)[-1])
        finally:
            server.kill()


def _open(port: int, headers: dict[str, str]) -> ClientConnection:
    return connect(f"ws://{_HOST}/acp", sock=socket.create_connection(("127.0.0.1", port)), additional_headers=headers)


def test_the_server_of_the_page_asks_for_the_token_and_stops(folder: Path) -> None:
    assert "python private_agent.py\n" in "".join(block.text for block in blocks(_PAGE))
    with _running(folder, "private_agent.py") as (server, port):
        with pytest.raises(InvalidStatus, match="401"):
            _open(port, {})
        with _open(port, _TOKEN) as websocket:
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0
            with pytest.raises(ConnectionClosed):
                websocket.recv(60)


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_nginx_passes_on_the_messages_of_client_and_agent(scheme: str, folder: Path) -> None:
    with _running(folder, "remote_agent.py") as (_, port), _nginx(folder, port) as address:
        command = [sys.executable, "remote_client.py", f"{scheme}://{address}/acp"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "agent: Hello\n", "")


def test_granian_serves_http_2_and_stops_with_an_open_stream(folder: Path) -> None:
    words = shlex.split(next(line for line in re.findall("`(granian .+?)`", _PAGE.read_text("utf-8"))))
    try:
        python = pypi_package("granian@2.8.9", "granian==2.8.9", borrow=True) / "bin" / "python"
    except UnavailableError as reason:
        skip_without("Granian can't be installed", reason)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(python), "-m", *words[:-1], "--port", str(port), "remote_agent:app"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        try:
            assert any("Started worker" in line for line in server.stdout)
            with httpx2.Client(http1=False, http2=True, base_url=f"http://127.0.0.1:{port}") as client:
                opened = client.post("/acp", json=INITIALIZE)
                assert (opened.status_code, opened.http_version) == (200, "HTTP/2")
                id = {"Acp-Connection-Id": opened.headers["acp-connection-id"]}
                with client.stream("GET", "/acp", headers={**id, **EVENTS}) as stream:
                    assert stream.status_code == 200
                    server.send_signal(signal.SIGTERM)
                    assert server.wait(60) == 0
        finally:
            server.kill()


def test_http_2_ends_at_nginx(folder: Path) -> None:
    with (
        _running(folder, "remote_agent.py") as (_, port),
        _nginx(folder, port, " http2") as address,
        httpx2.Client(http1=False, http2=True, base_url=f"http://{address}") as client,
    ):
        opened = client.post("/acp", json=INITIALIZE)
        assert (opened.status_code, opened.http_version) == (200, "HTTP/2")
        headers = {"Acp-Connection-Id": opened.headers["acp-connection-id"], **EVENTS}
        with client.stream("GET", "/acp", headers=headers) as stream:
            assert (stream.status_code, stream.http_version) == (200, "HTTP/2")


@contextmanager
def _proxy(name: str, folder: Path, port: int, **changes: str) -> Generator[str]:
    """Run a proxy of the examples in front of a port. Yield its host and port. Its lines are changed for the test."""
    if name == "nginx":
        with _nginx(folder, port, changes=changes) as address:
            yield address
        return
    config = (ROOT / "examples" / "remote" / "haproxy.cfg").read_text("utf-8")
    (folder / "haproxy.cfg").write_text(_changed(config, changes), "utf-8")
    one = f"127.0.0.1:{port}"
    with balancer(folder / "haproxy.cfg", one, one) as address:
        yield address


def _changed(config: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in config
        config = config.replace(old, new)
    return config


_HALF_HEAD = b"GET /acp HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("sent", [b"", _HALF_HEAD], ids=["idle", "half a head"])
@pytest.mark.parametrize(("proxy", "line"), [("nginx", "client_header_timeout"), ("haproxy", "timeout http-request")])
def test_a_proxy_closes_a_connection_without_a_whole_request(proxy: str, line: str, sent: bytes, folder: Path) -> None:
    changes = {f"{line} 10s": f"{line} 1s"}
    with (
        _running(folder, "remote_agent.py") as (_, port),
        _proxy(proxy, folder, port, **changes) as address,
        socket.create_connection(("127.0.0.1", int(address.split(":")[1])), timeout=60) as client,
    ):
        client.sendall(sent)
        while client.recv(1000):
            pass  # HAProxy answers with 408


@pytest.mark.parametrize("proxy", ["nginx", "haproxy"])
def test_a_proxy_passes_nothing_on_before_the_websocket_is_accepted(proxy: str, folder: Path) -> None:
    upgrade = _HALF_HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    upgrade += b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        with (
            _proxy(proxy, folder, listener.getsockname()[1]) as address,
            socket.create_connection(("127.0.0.1", int(address.split(":")[1])), timeout=60) as client,
        ):
            client.sendall(upgrade)
            server = listener.accept()[0]
            while not (received := server.recv(100_000)).startswith(b"GET /acp"):  # HAProxy checks whether it is alive
                server = listener.accept()[0]
            client.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    client.send(b"x" * 100_000)
            assert received.endswith(b"\r\n\r\n")
            server.setblocking(False)
            with server, pytest.raises(BlockingIOError):
                server.recv(1)


@pytest.mark.parametrize(
    ("proxy", "old", "new"),
    [("nginx", "limit_conn addresses 100", "limit_conn addresses 2"), ("haproxy", "conn_cur gt 100", "conn_cur gt 2")],
)
def test_a_proxy_limits_the_connections_of_an_address(proxy: str, old: str, new: str, folder: Path) -> None:
    with (
        _running(folder, "remote_agent.py") as (_, port),
        _proxy(proxy, folder, port, **{old: new}) as address,
        connect(f"ws://{address}/acp"),
        connect(f"ws://{address}/acp"),
        pytest.raises(InvalidStatus, match="429"),
    ):
        connect(f"ws://{address}/acp")


def test_nginx_refuses_a_body_that_is_too_large(folder: Path) -> None:
    changes = {"client_max_body_size 16m": "client_max_body_size 1k"}
    with _running(folder, "remote_agent.py") as (_, port), _proxy("nginx", folder, port, **changes) as address:
        refused = httpx2.post(f"http://{address}/acp", json={"x": "x" * 2000})
        assert refused.status_code == 413


@pytest.mark.parametrize("proxy", ["nginx", "haproxy"])
def test_a_client_that_reads_nothing_loses_its_connection_behind_a_proxy(proxy: str, folder: Path) -> None:
    program = folder / "flooding.py"
    program.write_text(_FLOODING, "utf-8")
    with (
        _running(folder, "flooding.py") as (server, port),
        _proxy(proxy, folder, port) as address,
        socket.create_connection(("127.0.0.1", int(address.split(":")[1]))) as client,
    ):
        client.sendall(_UPGRADE + frame(json.dumps(INITIALIZE).encode()))
        assert server.stderr is not None
        assert any("The agent has ended" in line for line in server.stderr)


_UPGRADE = (
    b"GET /acp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
_FLOODING = """
import sys
from acp_kit.remote import Bounds, agent_app, run

async def serve(transport, _):
    try:
        await transport.receive()
        while True:
            await transport.send(b'"%b"\\n' % (b"x" * 100_000))
    finally:
        print("The agent has ended.", file=sys.stderr, flush=True)

run(agent_app(serve, bounds=Bounds(unread_seconds=1)), port=8000)
"""


@contextmanager
def _nginx(folder: Path, port: int, options: str = "", changes: dict[str, str] | None = None) -> Generator[str]:
    """Run the proxy of the example in front of a port, as this user. Yield its host and port."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        skip_or_fail("tools", "nginx is needed (in Debian, the package nginx).")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    paths = [f"{kind}_temp_path temp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
    config = (ROOT / "examples" / "remote" / "nginx.conf").read_text("utf-8")
    config = _changed(config, changes or {})
    config = config.replace("127.0.0.1:8001", f"127.0.0.1:{port}").replace("127.0.0.1:8000", address + options)
    config = config.replace("http {", f"http {{ access_log off; {' '.join(paths)}", 1)
    (folder / "nginx.conf").write_text(f"pid nginx.pid;\nerror_log error.log;\n{config}", "utf-8")
    command = [program, "-p", str(folder), "-e", "error.log", "-c", str(folder / "nginx.conf")]
    subprocess.run(command, check=True, timeout=60)  # it returns when it listens, and goes on in the background
    try:
        yield address
    finally:
        subprocess.run([*command, "-s", "stop"], check=True, timeout=60)
