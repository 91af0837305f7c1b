"""Fetches a document over https, and no other way."""

from __future__ import annotations

from http.client import HTTPException, HTTPMessage
from time import monotonic
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

_CHUNK = 64 * 1024


def fetch_https(url: str, *, timeout: float = 20.0, max_bytes: int = 8 * 1024 * 1024) -> bytes:
    """Return what is at an address.

    Args:
        url: the address. It and all that it redirects to must begin with `https://`.
        timeout: how long the server may send nothing, and all of the document may take, in seconds.
        max_bytes: how long the document may be.

    Raises:
        OSError: if it can't be fetched, or ends before its announced length.
        TimeoutError: if that takes longer.
        ValueError: if the document is longer.
    """
    _require_https(url)
    end = monotonic() + timeout
    # Some servers refuse the name that urllib has by default.
    request = Request(url, headers={"User-Agent": "acp-bindings", "Accept": "application/json"})
    try:
        with build_opener(_HttpsOnly).open(request, timeout=timeout) as response:
            document, announced = bytearray(), response.headers.get("Content-Length")
            while len(document) <= max_bytes and (piece := response.read1(_CHUNK)):
                document += piece
                if monotonic() > end:
                    raise TimeoutError(f"Fetching {url} took longer than {timeout} seconds.")
    except HTTPError as error:
        error.close()  # it holds the connection
        raise
    except HTTPException as error:
        raise URLError(f"the server's answer is invalid: {type(error).__name__}") from error
    if len(document) > max_bytes:
        raise ValueError(f"The document is longer than {max_bytes} bytes.")
    if announced is not None and announced != str(len(document)):
        raise URLError(f"the document ended after {len(document)} of {announced} bytes")
    return bytes(document)


class _HttpsOnly(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _require_https(url: Any) -> None:
    if not str(url).lower().startswith("https://"):
        raise URLError(f"{url!a:.300} does not begin with https://, so what is there can be replaced on the way.")
