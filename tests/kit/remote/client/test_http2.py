"""With TLS, a client speaks HTTP/2 to a server that offers it, or WebSocket."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypercorn.asyncio import serve
from hypercorn.config import Config

from acp_bindings import v1
from acp_kit.remote import HTTPRequest, Refused, agent_app, open_transport
from acp_kit.remote.server.requests import Receive, Scope, Send
from acp_runtime import ConnectionClosed
from tests.support.kit.remote_agents import echo
from tests.support.kit.remote_servers import serving as served_by_uvicorn
from tests.support.runtime.peer import PlainClient

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the server's certificate")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", "req", *options, "-subj", "/CN=test", *files], check=True, capture_output=True)
    return folder


@asynccontextmanager
async def served(certificate: Path) -> AsyncGenerator[tuple[str, set[str]]]:
    """Yield the URL of an agent, and the versions of HTTP that clients have spoken to it."""
    versions: set[str] = set()
    agent = agent_app(echo)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            versions.add(scope["http_version"])
        await agent(scope, receive, send)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = Config()
        config.bind = [f"fd://{listening.fileno()}"]
        config.certfile, config.keyfile = str(certificate / "cert.pem"), str(certificate / "key.pem")
        config.alpn_protocols = ["h2", "http/1.1"]
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(app, config, shutdown_trigger=stop.wait))  # type: ignore[arg-type]
        yield "https://127.0.0.1:{1}/acp".format(*listening.getsockname()), versions
        stop.set()
        await serving
        listening.detach()


@pytest.mark.parametrize(("scheme", "http"), [("https", {"2"}), ("wss", set[str]())])
async def test_many_sessions_run_at_once_over_tls(scheme: str, http: set[str], certificate: Path) -> None:
    context = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    async with (
        served(certificate) as (url, versions),
        v1.connect(PlainClient, await open_transport(url.replace("https", scheme), ssl=context)) as remote,
    ):
        await remote.initialize(protocol_version=1)
        sessions = await asyncio.gather(*(remote.session_new(cwd="/", mcp_servers=[]) for _ in range(20)))
        for session in reversed(sessions):
            assert (await remote.session_prompt(session_id=session.session_id, prompt=[])).stop_reason == "end_turn"
    assert versions == http


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
async def test_an_unknown_certificate_is_refused(scheme: str, certificate: Path) -> None:
    async with served(certificate) as (url, _):
        transport = await open_transport(url.replace("https", scheme))
        with pytest.raises(OSError, match="certificate"):
            await transport.send(b'{"jsonrpc": "2.0", "id": 0, "method": "initialize"}\n')
        await transport.close()


@pytest.mark.parametrize("scheme", ["https", "wss"])
async def test_uvicorn_with_tls_serves_and_refuses_without_an_error_in_its_log(scheme: str, certificate: Path) -> None:
    def authenticate(request: HTTPRequest) -> None:
        if "authorization" not in request.headers:
            raise Refused(401, "Send a token.")

    files = {"ssl_certfile": str(certificate / "cert.pem"), "ssl_keyfile": str(certificate / "key.pem")}
    context = ssl.create_default_context(cafile=certificate / "cert.pem")
    async with served_by_uvicorn(agent_app(echo, authenticate=authenticate), options=files) as site:
        url = f"{scheme}://127.0.0.1:{site.port}/acp"
        with pytest.raises(ConnectionClosed, match="401"):
            async with v1.connect(PlainClient, await open_transport(url, ssl=context)) as agent:
                await agent.initialize(protocol_version=1)
        transport = await open_transport(url, ssl=context, headers={"Authorization": "x"})
        async with v1.connect(PlainClient, transport) as agent:
            await agent.initialize(protocol_version=1)
            assert (await agent.session_new(cwd="/", mcp_servers=[])).session_id == "s1"
