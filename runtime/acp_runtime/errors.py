"""Errors that have a JSON-RPC code: what a handler raises to answer with an error, and what a failed call raises."""

from __future__ import annotations

from typing import Any


class RequestError(Exception):
    """An error answer of JSON-RPC.

    Args:
        code: the error code (JSON-RPC 2.0 section 5.1, ACP's own codes from -32000 on).
        message: a short sentence for the peer.
        data: anything JSON that helps the peer.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class MethodNotFound(RequestError):
    """-32601: the peer does not have the method."""

    def __init__(self, method: str) -> None:
        super().__init__(-32601, "Method not found", {"method": method})
