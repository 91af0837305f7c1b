"""A document is fetched over https only, also behind redirects, and never without a limit."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from acp_kit.registry import fetch_https

gone = threading.Event()  # the client of a body that is sent for ever has closed the connection
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the server's certificate")


class Handler(BaseHTTPRequestHandler):
    """Gives a document, nothing, or a redirect to the rest of the path."""

    def do_GET(self) -> None:
        kind, _, rest = self.path.removeprefix("/").partition("?")
        if kind == "document":
            self._answer(200, b"x" * 1000)
        elif kind == "short":
            self._answer(200, b"x" * 999, **{"Content-Length": "1000"})
        elif kind == "slow-body":
            self._send_a_body_for_ever()
        elif kind == "to":
            self._answer(302, b"", Location=rest)
        else:
            self._answer(404, b"")

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _send_a_body_for_ever(self) -> None:
        self._answer(200, b"")
        try:
            while not gone.wait(0.01):
                self.wfile.write(b"x")  # so little that `max_bytes` is not reached before the time is over
        except OSError:
            gone.set()

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(["openssl", "req", *options, *files], check=True, capture_output=True)
    return folder


@contextmanager
def serving(context: ssl.SSLContext | None) -> Generator[str]:
    server = ThreadingHTTPServer(("localhost", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"{'http' if context is None else 'https'}://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def https(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server whose certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    monkeypatch.setenv("no_proxy", "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(context) as address:
        yield address


def test_a_document_is_fetched_also_behind_a_redirect(https: str) -> None:
    assert fetch_https(f"{https}/document") == b"x" * 1000
    assert fetch_https(f"{https}/to?{https}/document") == b"x" * 1000


def test_a_certificate_that_is_not_trusted_is_an_error(https: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        fetch_https(f"{https}/document")


@pytest.mark.parametrize("url", ["http://localhost/", "file:///etc/hostname", "ftp://localhost/", "data:,x", ""])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(OSError, match="does not begin with https://"):
        fetch_https(url)


def test_a_redirect_to_another_kind_of_address_is_refused(https: str) -> None:
    with serving(None) as http, pytest.raises(OSError, match="does not begin with https://"):
        fetch_https(f"{https}/to?{http}/document")


def test_an_error_of_the_server_is_an_error(https: str) -> None:
    with pytest.raises(OSError, match="404"):
        fetch_https(f"{https}/missing")


def test_a_document_that_is_too_long_is_refused(https: str) -> None:
    assert len(fetch_https(f"{https}/document", max_bytes=1000)) == 1000
    with pytest.raises(ValueError, match="longer than 999 bytes"):
        fetch_https(f"{https}/document", max_bytes=999)


def test_a_server_that_sends_for_ever_is_not_read_for_ever(https: str) -> None:
    with pytest.raises(TimeoutError, match=r"longer than 2 seconds"):
        fetch_https(f"{https}/slow-body", timeout=2)
    assert gone.wait(60)


def test_a_document_that_ends_before_its_announced_length_is_refused(https: str) -> None:
    with pytest.raises(OSError, match="ended after 999 of 1000 bytes"):
        fetch_https(f"{https}/short")
