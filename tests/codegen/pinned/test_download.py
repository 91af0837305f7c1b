"""Downloading one file from a server on this machine that may fail in every way."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from codegen.errors import FetchError
from codegen.pinned import github as module
from codegen.pinned.github import MAX_BYTES, download

WHAT = "v1/schema.json of schema-v1.21.0"


@dataclass(frozen=True)
class Answer:
    """A response, whose `Content-Length` is that of its content if the headers have none."""

    content: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])


class Server(ThreadingHTTPServer):
    """A server with the answers to paths. For others, it answers when the test is over."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.over = Event()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        answer = self.server.answers.get(self.path)
        if answer is None:
            self.server.over.wait()
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.content)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # the client has had enough
            self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for variable in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with Server() as found:
        thread = Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.over.set()
        found.shutdown()
        thread.join()


def test_a_redirect_to_the_storage_of_a_file_is_followed(server: Server) -> None:
    server.answers = {
        "/schema.json": Answer(status=302, headers={"Location": f"{server.url}/storage?sig=x"}),
        "/storage?sig=x": Answer(b"{}"),
    }
    assert download(f"{server.url}/schema.json", WHAT) == b"{}"


def test_a_file_that_does_not_exist_is_none(server: Server) -> None:
    server.answers["/schema.json"] = Answer(b"Not Found", 404)
    assert download(f"{server.url}/schema.json", WHAT) is None


FAILURES = {
    f"GitHub answered 429 when asked for {WHAT}": Answer(status=429),
    "answered 502": Answer(b"<!DOCTYPE html><html><title>Unicorn!</title></html>", 502),
    "answered 302": Answer(status=302, headers={"Location": "schema.json"}),
    "answered 303": Answer(status=303, headers={"Location": "file:///etc/passwd"}),
    "ended after 3 bytes": Answer(b"{  ", headers={"Content-Length": "4"}),
    "more than 16777216 bytes": Answer(b" " * (MAX_BYTES + 1)),
}


@pytest.mark.parametrize(("words", "answer"), FAILURES.items(), ids=FAILURES)
def test_a_failure_is_an_error_that_says_what_failed(server: Server, words: str, answer: Answer) -> None:
    server.answers["/schema.json"] = answer
    with pytest.raises(FetchError, match=words):
        download(f"{server.url}/schema.json", WHAT)


def test_a_server_that_does_not_answer_is_an_error(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.1)
    with pytest.raises(FetchError, match=r"can't be downloaded \(timed out\)"):
        download(server.url, WHAT)


def test_without_a_network_there_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(FetchError, match=r"can't be downloaded \("):
        download(f"http://127.0.0.1:{port}/schema.json", WHAT)
