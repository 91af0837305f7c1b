"""A package registry for npm with one package, which is an agent, on a port of this machine."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME, VERSION = "@example/tiny-agent", "1.2.3"

# It has no dependencies. Its reply is its arguments and a variable of its environment.
_AGENT = """#!/usr/bin/env node
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const text = JSON.stringify([...process.argv.slice(2), process.env.TINY_MODE]);
const results = {
  "initialize": { protocolVersion: 1 },
  "session/new": { sessionId: "session-1" },
  "session/prompt": { stopReason: "end_turn" },
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "session/prompt") {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    send({ method: "session/update", params: { sessionId: "session-1", update } });
  }
  if (id !== undefined) send({ id, result: results[method] });
});
"""


@contextmanager
def npm_registry() -> Generator[str]:
    """Yield the address of the registry."""
    archive = _packed()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers["Host"]
            body = archive if self.path.endswith(".tgz") else json.dumps(_about(archive, host)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_PACKAGE = {"name": NAME, "version": VERSION, "bin": {"tiny-agent": "agent.js"}}


def _packed() -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, text in {"package.json": json.dumps(_PACKAGE), "agent.js": _AGENT}.items():
            about = tarfile.TarInfo(f"package/{name}")
            about.size = len(text)
            about.mode = 0o755
            archive.addfile(about, io.BytesIO(text.encode()))
    return written.getvalue()


def _about(archive: bytes, host: str) -> dict[str, Any]:
    digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
    dist = {"tarball": f"http://{host}/tiny-agent.tgz", "integrity": f"sha512-{digest}"}
    return {"name": NAME, "dist-tags": {"latest": VERSION}, "versions": {VERSION: {**_PACKAGE, "dist": dist}}}
