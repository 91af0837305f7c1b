"""Fetches a document over https, and no other way."""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPException, HTTPMessage
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

_CHUNK = 64 * 1024


def fetch_https(url: str, *, timeout: float = 20.0, max_bytes: int = 8 * 1024 * 1024) -> bytes:
    """Return what is at an address.

    Args:
        url: the address. It and all that it redirects to must begin with `https://`.
        timeout: how long it may take, in seconds.
        max_bytes: how long the document may be.

    Raises:
        OSError: if it can't be fetched.
        TimeoutError: if that takes longer.
        ValueError: if the document is longer.
    """
    _require_https(url)
    answers: SimpleQueue[bytes | Exception] = SimpleQueue()

    def fetch() -> None:
        try:
            answers.put(_fetch(url, timeout, max_bytes))
        except Exception as error:
            answers.put(error)

    # urllib's timeout is for each wait, and a server can send its headers in any number of pieces.
    Thread(target=fetch, name="acp-registry", daemon=True).start()
    try:
        answer = answers.get(timeout=timeout)
    except Empty:
        raise TimeoutError(f"Fetching {url} took longer than {timeout} seconds.") from None
    try:
        if isinstance(answer, Exception):
            raise answer
        return answer
    finally:
        del answer  # an error refers to this frame, and would stay until the garbage collector runs


def _fetch(url: str, timeout: float, max_bytes: int) -> bytes:
    end = monotonic() + timeout
    # Some servers refuse the name that urllib has by default.
    request = Request(url, headers={"User-Agent": "acp-bindings", "Accept": "application/json"})
    try:
        with build_opener(_HttpsOnly).open(request, timeout=timeout) as response:
            return read_limited(response.read1, max_bytes, end)
    except HTTPError as error:
        error.close()  # it holds the connection
        raise
    except HTTPException as error:
        raise URLError(f"the server's answer is invalid: {type(error).__name__}") from error


def read_limited(read: Callable[[int], bytes], max_bytes: int, end: float) -> bytes:
    """Read everything from a stream.

    Args:
        read: returns at most as many bytes as it is told, and none at the end.
        max_bytes: how much there may be.
        end: until when, by `time.monotonic`.

    Raises:
        TimeoutError: if it takes longer.
        ValueError: if there is more.
    """
    pieces: list[bytes] = []
    size = 0
    while piece := read(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise ValueError(f"The document is longer than {max_bytes} bytes.")
        if monotonic() > end:
            raise TimeoutError("Fetching the document takes too long.")
    return b"".join(pieces)


class _HttpsOnly(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _require_https(url: Any) -> None:
    if not str(url).lower().startswith("https://"):
        raise URLError(f"{url!r} does not begin with https://, so what is there can be replaced on the way.")
