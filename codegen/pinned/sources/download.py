"""Downloads one file from GitHub, with limits on time and size, and words every failure."""

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
    """Return the content at a path of GitHub's API, following redirects.

    `GITHUB_API_URL` is the address of the API, as in GitHub's workflows. `GITHUB_TOKEN` is sent only there, if it is
    set.

    Args:
        path: the path, appended to the address.
        what: the name of the content in error messages.
        accept: the media type to ask for.

    Raises:
        FetchError: the content could not be downloaded completely.
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
        raise FetchError("GITHUB_API_URL is not the address of an API: it must begin with https:// or http://.")
    request = Request(address.rstrip("/") + path, headers={"Accept": accept, "User-Agent": "acp-bindings"})
    token = os.environ.get("GITHUB_TOKEN", "").strip()
    if not token.isascii() or not token.isprintable():
        raise FetchError("GITHUB_TOKEN has characters that a token can't have. Correct it, or unset it.")
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    return request


def _read(response: HTTPResponse, what: str) -> bytes:
    content = response.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise FetchError(f"GitHub sent more than {MAX_BYTES} bytes for {what}, too many for a schema.")
    if response.length:
        raise IncompleteRead(content, response.length)
    return content


def _refusal(error: HTTPError, what: str) -> str:
    """Return a sentence for an answer with an error status."""
    if error.code == 401:
        return "GitHub does not accept the token in GITHUB_TOKEN. Renew it, or unset it."
    if error.code == 404:
        return f"GitHub does not have {what} (404). Check the tag, or try again later."
    if error.code == 429 or (error.code == 403 and _is_rate_limit(error.headers)):
        return (
            f"GitHub's rate limit is used up{_until(error.headers)}. Wait, or set GITHUB_TOKEN, which has a higher one."
        )
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
    """Return a sentence for a request without an answer, or with an incomplete one."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, IncompleteRead):
        return (
            f"The download of {what} ended after {len(reason.partial)} bytes, before it was complete. Fetch it again."
        )
    if isinstance(reason, TimeoutError):
        return f"GitHub did not answer within {SECONDS} seconds when asked for {what}. Try again later."
    return f"GitHub can't be reached for {what} ({_reason(reason)}). Try again later, or fetch from npm or a folder."


def _reason(reason: BaseException | str) -> str:
    if isinstance(reason, OSError):
        return reason.strerror or str(reason)
    return reason if isinstance(reason, str) else type(reason).__name__
