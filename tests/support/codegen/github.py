"""A stand-in for the part of GitHub that fetching uses: files of a release, and the storage that they redirect to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TypeAlias

_RELEASES = "/agentclientprotocol/agent-client-protocol/releases/download"


@dataclass(frozen=True)
class Answer:
    """One HTTP response.

    Attributes:
        length: the `Content-Length`, if it differs from the length of the content.
        never: whether the response is never sent.
    """

    content: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    length: int | None = None
    never: bool = False


Respond: TypeAlias = Callable[[str], Answer]


class GitHub:
    """A server with one repository, which has one release.

    Attributes:
        tag: the tag of the release.
        assets: the files of the release by name.
        instead: responses to send in place of the files, by name.
    """

    def __init__(self) -> None:
        self.tag = "schema-v1.21.0"
        self.assets: dict[str, bytes] = {}
        self.instead: dict[str, Answer] = {}
        self._releases = _server(self._redirect)
        self._storage = _server(self._file)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._releases.server_port}"

    def close(self) -> None:
        for server in (self._releases, self._storage):
            server.closing.set()
            server.shutdown()
            server.server_close()

    def _redirect(self, path: str) -> Answer:
        folder, _, name = path.rpartition("/")
        if folder != f"{_RELEASES}/{self.tag}" or name not in self.assets:
            return Answer(b"Not Found", 404)
        return Answer(status=302, headers={"Location": f"http://127.0.0.1:{self._storage.server_port}/{name}?sig=x"})

    def _file(self, path: str) -> Answer:
        name = path.removeprefix("/").partition("?")[0]
        return self.instead.get(name) or Answer(self.assets[name], headers={"Content-Type": "application/octet-stream"})


@contextmanager
def github() -> Iterator[GitHub]:
    """Run the servers until the block ends."""
    found = GitHub()
    try:
        yield found
    finally:
        found.close()


class _Server(ThreadingHTTPServer):
    """A server that ignores clients which close their connection early."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.closing = Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        answer = self.server.respond(self.path)
        if answer.never:
            self.server.closing.wait()
            return
        self.send_response(answer.status)
        length = len(answer.content) if answer.length is None else answer.length
        for name, value in {"Content-Length": str(length), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        pass


def _server(respond: Respond) -> _Server:
    server = _Server(respond)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server
