"""HTTP requests to an agent: their headers, and the errors of refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from http.cookiejar import CookieJar
from ssl import SSLContext

import httpx2

from acp_kit.remote.headers import CONNECTION_ID, MAX_ID, SESSION_ID, is_header_value, is_id
from acp_runtime.escaping import printable

PROTOCOL_VERSION = "Acp-Protocol-Version"
NOT_FOUND = 404

# Servers often close an idle connection after 5 seconds. The client closes it earlier, so that it doesn't use a
# connection that is being closed.
_LIMITS = httpx2.Limits(keepalive_expiry=3.0)
_SHOWN_CHARACTERS = 1000
_TO_CHECK = {401: "the credentials", 403: "the path, the credentials and the allowed hosts", NOT_FOUND: "the path"}


class RefusedError(OSError):
    """The agent answered with a status other than 2xx, or with an invalid response.

    Attributes:
        status: the HTTP status.
        ends_connection: whether the connection can't be used any more.
    """

    def __init__(self, text: str, status: int, *, ends_connection: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.ends_connection = ends_connection or status in (401, 403, NOT_FOUND, 410)


class Requests:
    """Sends HTTP requests to an agent, over HTTP/2 if the agent offers it with TLS, else over HTTP/1.1.

    Each stream has its own connection, even with HTTP/2: if several streams wait on one connection, httpx2 2.16 wakes
    the one that has waited longest, so data for another one may not be read until more comes.

    Args:
        url: the address of the agent.
        headers: the headers of each request.
        ssl: the configuration of TLS; None for the default.
        cookies: stores cookies.
    """

    def __init__(self, url: str, headers: Mapping[str, str], ssl: SSLContext | None, cookies: CookieJar) -> None:
        self.headers = dict[str, str]()
        self._url = url
        self._shown_url = without_secrets(url)
        verify = (ssl or httpx2.create_ssl_context()) if url.startswith("https:") else False
        self._client = partial(
            httpx2.AsyncClient, http2=True, verify=verify, headers=headers, cookies=cookies, limits=_LIMITS
        )
        self._sender = self._client()

    @asynccontextmanager
    async def send(
        self, method: str, session: str, timeout: float | None, *, content: bytes | None = None
    ) -> AsyncGenerator[httpx2.Response]:
        """Send a request, and yield the response, whose body is not read.

        Args:
            method: GET, POST or DELETE.
            session: the id of the session for the header; empty for none.
            timeout: how many seconds may pass without data; for a POST, how many seconds the request may take.
            content: the message.

        Raises:
            RefusedError: if the status is not 2xx, or the id of the session is too long for a header, or has characters
                that it can't carry.
            OSError: if the agent can't be reached, or the connection broke.
        """
        if not is_id(session):
            raise RefusedError(
                f"The id of the session has more than {MAX_ID} characters, or some that a header can't carry.", 400
            )
        headers = {"Accept": "text/event-stream" if method == "GET" else "application/json, text/event-stream"}
        headers |= {"Accept-Encoding": "identity", **self.headers}
        if session:
            headers[SESSION_ID] = session
        if content is not None:
            headers["Content-Type"] = "application/json"
        # A POST may take longer if it is large: a second for each 16 kB.
        limit = None if timeout is None or content is None else timeout + len(content) / 16_384
        waits = httpx2.Timeout(connect=10.0, write=60.0, read=timeout, pool=None)
        try:
            async with asyncio.timeout(limit), AsyncExitStack() as stack:
                client = await stack.enter_async_context(self._client()) if method == "GET" else self._sender
                sent = client.stream(method, self._url, content=content, headers=headers, timeout=waits)
                response = await stack.enter_async_context(sent)
                drop_unusable(self._sender.cookies.jar)
                encoding = response.headers.get("content-encoding", "identity")
                if encoding.lower() != "identity":  # a few bytes could become gigabytes
                    raise self.unusable(response, f"its Content-Encoding is {encoding}, which was not asked for")
                if not response.is_success:
                    raise self.unusable(response, await read_start(response, _SHOWN_CHARACTERS))
                yield response
        except (httpx2.HTTPError, TimeoutError) as lost:
            raise OSError(failure(self._shown_url, lost)) from None  # the text of `lost` may not be printable

    async def close(self) -> None:
        """Close the connection for messages. Each stream closes its own."""
        await self._sender.aclose()

    def unusable(self, response: httpx2.Response, text: str | bytes) -> RefusedError:
        """Return the error for a response that can't be used."""
        status = response.status_code
        opening = CONNECTION_ID not in self.headers
        request = f"{response.request.method} {self._shown_url}"
        message = refusal(request, status, response.reason_phrase, text, opening=opening)
        return RefusedError(message, status, ends_connection=opening)


async def read_start(response: httpx2.Response, size: int) -> bytes:
    """Return a body, or its beginning if it is larger than `size`."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        await asyncio.sleep(0)  # there may be many small chunks
        body += chunk
        if len(body) > size:
            break
    return bytes(body)


def refusal(request: str, status: int, reason: str, text: str | bytes, *, opening: bool = True) -> str:
    """Return a sentence about a response that can't be used, with advice if it should have opened a connection."""
    redirect = " (redirects are not followed)" if status // 100 == 3 else ""
    advice = f" (check {_TO_CHECK.get(status, 'the URL' if status < 500 else 'its log')})" if opening else ""
    return f"The agent answered {request} with HTTP {status} {printable(reason)}{redirect}{shorten(text)}{advice}"


def failure(url: str, error: Exception | str) -> str:
    """Return a sentence about a connection that can't be opened, or that broke."""
    return f"The connection to the agent at {url} failed{shorten(str(error) or type(error).__name__)}"


def drop_unusable(cookies: CookieJar) -> None:
    """Drop cookies that are too large or that headers can't carry, and the oldest ones beyond 1,000."""
    for number, cookie in enumerate(reversed(list(cookies))):
        text = f"{cookie.name}={cookie.value}"
        if number >= 1000 or len(text) > 4096 or not is_header_value(text):
            cookies.clear(cookie.domain, cookie.path, cookie.name)


def shorten(text: str | bytes) -> str:
    """Return a colon and the start of a text of the agent, made printable; nothing if the text is empty."""
    decoded = text.decode(errors="backslashreplace") if isinstance(text, bytes) else text
    shown = printable(" ".join(decoded[:_SHOWN_CHARACTERS].split()), _SHOWN_CHARACTERS)
    return f": {shown}" if shown else ""


def without_secrets(url: str) -> str:
    """Return a URL without user, password and query, which may be secret."""
    return str(httpx2.URL(url).copy_with(userinfo=b"", query=None, fragment=None))
