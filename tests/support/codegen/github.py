"""A stand-in for the part of GitHub that fetching uses: its API on one port of this machine, its storage on another.

Follows GitHub's documentation of releases, release assets and rate limits: a release is requested by its tag, an asset
by its id, which redirects to a storage that refuses the API's authorization.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, TypeAlias

from codegen.pinned.pins import sha256

REPOSITORY = "agentclientprotocol/agent-client-protocol"
_RELEASES = f"/repos/{REPOSITORY}/releases"
_JSON = {"Content-Type": "application/json; charset=utf-8"}


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


Respond: TypeAlias = Callable[[str, Message], Answer]


class GitHub:
    """A server with one repository, which has one release.

    Attributes:
        tag: the tag of the release.
        assets: the files of the release by name. Their ids count from 0.
        digests: digests to announce for files in place of the real ones.
        release: keys to replace in the JSON of the release.
        instead: responses to send in place of the normal ones, by the end of the path.
        asked: the server ("api" or "storage"), the path and the authorization of each request.
    """

    def __init__(self) -> None:
        self.tag = "schema-v1.21.0"
        self.assets: dict[str, bytes] = {}
        self.digests: dict[str, str | None] = {}
        self.release: dict[str, Any] = {}
        self.instead: dict[str, Answer] = {}
        self.asked: list[tuple[str, str, str | None]] = []
        self.api = _server(self._of_api)
        self._storage = _server(self._of_storage)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api.server_port}"

    def close(self) -> None:
        for server in (self.api, self._storage):
            server.closing.set()
            server.shutdown()
            server.server_close()

    def _of_api(self, path: str, headers: Message) -> Answer:
        self.asked.append(("api", path, headers["Authorization"]))
        if path == f"{_RELEASES}/tags/{self.tag}":
            return self._instead(path) or Answer(json.dumps(self._release()).encode(), headers=_JSON)
        number = path.removeprefix(f"{_RELEASES}/assets/")
        if number == path or not number.isdecimal() or int(number) >= len(self.assets):
            return self._instead(path) or _problem(404, "Not Found")
        if headers["Accept"] != "application/octet-stream":
            return Answer(json.dumps(self._asset(list(self.assets)[int(number)])).encode(), headers=_JSON)
        address = f"http://127.0.0.1:{self._storage.server_port}/{number}?signature=x"
        return self._instead(path) or Answer(status=302, headers={"Location": address})

    def _of_storage(self, path: str, headers: Message) -> Answer:
        self.asked.append(("storage", path, headers["Authorization"]))
        if "Authorization" in headers:
            return Answer(b"<Error>Only one auth mechanism is allowed.</Error>", 400)
        name = list(self.assets)[int(path.removeprefix("/").partition("?")[0])]
        return self._instead(name) or Answer(self.assets[name], headers={"Content-Type": "application/octet-stream"})

    def _instead(self, path: str) -> Answer | None:
        return next((answer for end, answer in self.instead.items() if path.endswith(end)), None)

    def _release(self) -> dict[str, Any]:
        assets = [self._asset(name) for name in self.assets]
        return {"tag_name": self.tag, "draft": False, "prerelease": False, "assets": assets, **self.release}

    def _asset(self, name: str) -> dict[str, Any]:
        content = self.assets[name]
        return {
            "id": list(self.assets).index(name),
            "name": name,
            "state": "uploaded",
            "size": len(content),
            "digest": self.digests.get(name, f"sha256:{sha256(content)}"),
            "browser_download_url": f"https://github.com/{REPOSITORY}/releases/download/{self.tag}/{name}",
        }


@contextmanager
def github() -> Iterator[GitHub]:
    """Run the servers until the block ends."""
    found = GitHub()
    try:
        yield found
    finally:
        found.close()


def rate_limited(**headers: str) -> Answer:
    return _problem(403, "API rate limit exceeded for 192.0.2.1.", headers)


def _problem(status: int, message: str, headers: dict[str, str] | None = None) -> Answer:
    content = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return Answer(json.dumps(content).encode(), status, _JSON | (headers or {}))


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
        answer = self.server.respond(self.path, self.headers)
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
