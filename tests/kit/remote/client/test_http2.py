"""With TLS, a client speaks HTTP/2 to a server that offers it."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypercorn.asyncio import serve
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from acp_bindings import v1
from acp_kit.remote import open_transport
from tests.support.kit.http_agent import ScriptedClient

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the server's certificate")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", "req", *options, "-subj", "/CN=test", *files], check=True, capture_output=True)
    return folder


class Agent:
    """Answers each request at once, on the stream that its headers name."""

    def __init__(self) -> None:
        self.versions: set[str] = set()
        self.streams: dict[str | None, asyncio.Queue[Any]] = {}

    async def handle(self, request: Request) -> Response:
        self.versions.add(request.scope["http_version"])
        session = request.headers.get("acp-session-id")
        stream = self.streams.setdefault(session, asyncio.Queue())
        if request.method == "GET":
            return StreamingResponse(self._events(stream), media_type="text/event-stream")
        if request.method == "DELETE":
            for each in self.streams.values():
                each.put_nowait(None)
            return Response(status_code=202)
        message = await request.json()
        results = {
            "initialize": {"protocolVersion": 1},
            "session/new": {"sessionId": f"s{message['id']}"},
            "session/prompt": {"stopReason": "end_turn"},
        }
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        if message["method"] == "initialize":
            return JSONResponse(answer, headers={"Acp-Connection-Id": "c"})
        stream.put_nowait(answer)
        return Response(status_code=202)

    async def _events(self, stream: asyncio.Queue[Any]) -> AsyncGenerator[str]:
        while (message := await stream.get()) is not None:
            yield f"data: {json.dumps(message)}\n\n"


@asynccontextmanager
async def served(agent: Agent, certificate: Path) -> AsyncGenerator[str]:
    app = Starlette(routes=[Route("/acp", agent.handle, methods=["GET", "POST", "DELETE"])])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = Config()
        config.bind = [f"fd://{listening.fileno()}"]
        config.certfile, config.keyfile = str(certificate / "cert.pem"), str(certificate / "key.pem")
        config.alpn_protocols = ["h2", "http/1.1"]
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(app, config, shutdown_trigger=stop.wait))  # type: ignore[arg-type]
        yield "https://127.0.0.1:{1}/acp".format(*listening.getsockname())
        stop.set()
        await serving
        listening.detach()


async def test_many_sessions_over_http_2(certificate: Path) -> None:
    agent = Agent()
    context = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    async with (
        served(agent, certificate) as url,
        v1.connect(ScriptedClient, await open_transport(url, ssl=context)) as remote,
    ):
        await remote.initialize(protocol_version=1)
        sessions = [await remote.session_new(cwd="/", mcp_servers=[]) for _ in range(20)]
        for each in reversed(sessions):
            assert (await remote.session_prompt(session_id=each.session_id, prompt=[])).stop_reason == "end_turn"
    assert agent.versions == {"2"}


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
async def test_an_unknown_certificate_is_refused(scheme: str, certificate: Path) -> None:
    async with served(Agent(), certificate) as url:
        transport = await open_transport(url.replace("https", scheme))
        with pytest.raises(OSError, match="certificate"):
            await transport.send(b'{"jsonrpc": "2.0", "id": 0, "method": "initialize"}\n')
        await transport.close()
