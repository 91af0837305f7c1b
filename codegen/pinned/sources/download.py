"""One download from GitHub: within limits of time and size, and every failure a sentence."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from email.message import Message
from http.client import HTTPException, HTTPResponse, IncompleteRead
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from codegen.errors import FetchError

SECONDS = 30
MAX_BYTES = 16 * 2**20

_API = "https://api.github.com"
_NUMBER = re.compile(r"[0-9]{1,10}")


def download(path: str, what: str, accept: str) -> bytes:
    """What GitHub has at a path of its API, wherever that redirects to.

    `GITHUB_API_URL` is the address of the API, as in GitHub's own workflows. `GITHUB_TOKEN` goes there if it is set,
    and nowhere else.

    Args:
        path: below the address.
        what: what is there, for the sentence of a failure.
        accept: the media type to ask for.

    Raises:
        FetchError: it can't be had, or not whole.
    """
    try:
        with urlopen(_request(path, accept), timeout=SECONDS) as response:
            return _read(response, what)
    except HTTPError as error:
        with error:
            raise FetchError(_refusal(error, what)) from error
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError(_failure(error, what)) from error


def _request(path: str, accept: str) -> Request:
    address = os.environ.get("GITHUB_API_URL") or _API
    if not address.startswith(("https://", "http://")):
        raise FetchError("GITHUB_API_URL is no address of an API: it begins with neither https:// nor http://.")
    request = Request(address.rstrip("/") + path, headers={"Accept": accept, "User-Agent": "acp-bindings"})
    token = os.environ.get("GITHUB_TOKEN", "").strip()
    if not token.isascii() or not token.isprintable():
        raise FetchError("GITHUB_TOKEN has characters that no token has.")
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    return request


def _read(response: HTTPResponse, what: str) -> bytes:
    content = response.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise FetchError(f"GitHub sends more than {MAX_BYTES} bytes for {what}, which is no schema.")
    if response.length:
        raise IncompleteRead(content, response.length)
    return content


def _refusal(error: HTTPError, what: str) -> str:
    if error.code == 401:
        return "GitHub doesn't accept the token in GITHUB_TOKEN."
    if error.code == 404:
        return f"GitHub doesn't have {what} (404). Check the tag, or try again later."
    if error.code == 429 or (error.code == 403 and _is_rate_limit(error.headers)):
        return f"GitHub's rate limit is used up{_until(error.headers)}. A GITHUB_TOKEN has a higher one."
    return f"GitHub answered {error.code} when asked for {what}. Try again later."


def _is_rate_limit(headers: Message) -> bool:
    return headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in headers


def _until(headers: Message) -> str:
    seconds, reset = headers.get("Retry-After", ""), headers.get("X-RateLimit-Reset", "")
    if _NUMBER.fullmatch(seconds):
        return f" for {seconds} seconds"
    if _NUMBER.fullmatch(reset):
        return f" until {datetime.fromtimestamp(int(reset), UTC):%Y-%m-%d %H:%M} UTC"
    return ""


def _failure(error: Exception, what: str) -> str:
    """A request that got no answer, or half of one."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, IncompleteRead):
        return f"The download of {what} broke off after {len(reason.partial)} bytes. Fetch it again."
    if isinstance(reason, TimeoutError):
        return f"GitHub said nothing for {SECONDS} seconds when asked for {what}. Try again later."
    return f"GitHub can't be reached for {what} ({_why(reason)}). Try again later, or fetch from npm or a folder."


def _why(reason: BaseException | str) -> str:
    if isinstance(reason, OSError):
        return reason.strerror or str(reason)
    return reason if isinstance(reason, str) else type(reason).__name__
