"""Everything this package raises on purpose.

`RequestError` and its subclasses are JSON-RPC's errors: raised by a handler they are the answer, and a call that the
peer answered with an error raises them. The others never travel: they say what went wrong on this side.
"""

from __future__ import annotations

from typing import Any, ClassVar

from acp_runtime.escaping import printable, printable_lines

# Of the peer's text in the text of an exception.
_MAX_MESSAGE = 2000


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
        return f"{printable(str(self.message), _MAX_MESSAGE)} ({self.code})"

    @staticmethod
    def of(code: int, message: str, data: Any = None) -> RequestError:
        """The error of a code: an instance of its subclass if the code has one."""
        cls = _BY_CODE.get(code)
        if cls is None:
            return RequestError(code, message, data)
        error = cls.__new__(cls)
        RequestError.__init__(error, code, message, data)
        return error


class _Coded(RequestError):
    """An error whose class knows its code.

    Args:
        message: a short sentence for the peer; the code's own name if left out.
        data: anything JSON that helps the peer.
    """

    default_code: ClassVar[int]
    default_message: ClassVar[str]

    def __init__(self, message: str | None = None, data: Any = None) -> None:
        super().__init__(self.default_code, self.default_message if message is None else message, data)


class ParseError(_Coded):
    """-32700: what arrived is not JSON."""

    default_code = -32700
    default_message = "Parse error"


class InvalidRequest(_Coded):
    """-32600: the JSON that arrived is no message, or it is not yet time for it."""

    default_code = -32600
    default_message = "Invalid request"


class MethodNotFound(RequestError):
    """-32601: the peer does not have the method."""

    def __init__(self, method: str) -> None:
        super().__init__(-32601, "Method not found", {"method": method})


class InvalidParams(_Coded):
    """-32602: the params of the request are not valid."""

    default_code = -32602
    default_message = "Invalid params"


class InternalError(_Coded):
    """-32603: the peer failed at handling the request."""

    default_code = -32603
    default_message = "Internal error"


class RequestCancelled(_Coded):
    """-32800: the request was cancelled before it had a result."""

    default_code = -32800
    default_message = "Request cancelled"


class AuthenticationRequired(_Coded):
    """-32000: the client has to authenticate first."""

    default_code = -32000
    default_message = "Authentication required"


class ResourceNotFound(_Coded):
    """-32002: a file, a session or another resource does not exist."""

    default_code = -32002
    default_message = "Resource not found"


class UnsupportedProtocolVersion(_Coded):
    """-32022: the agent has no version of the protocol at or below the one asked for (version 2)."""

    default_code = -32022
    default_message = "Unsupported protocol version"


_BY_CODE: dict[int, type[RequestError]] = {
    **{
        cls.default_code: cls
        for cls in (
            ParseError,
            InvalidRequest,
            InvalidParams,
            InternalError,
            RequestCancelled,
            AuthenticationRequired,
            ResourceNotFound,
            UnsupportedProtocolVersion,
        )
    },
    -32601: MethodNotFound,
}


class ConnectionClosed(Exception):
    """The connection ended while a call was waiting, or before it was made.

    Args:
        reason: a sentence saying how it ended.
        exit_code: of the subprocess at the other end, negative for a signal; None if there is none or it still runs.
        stderr: the last that the subprocess wrote there, decoded, at most `Options.stderr_tail` bytes.
    """

    def __init__(self, reason: str, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__(reason, exit_code, stderr)
        self.reason = reason
        self.exit_code = exit_code
        self.stderr = stderr

    def __str__(self) -> str:
        code = "" if self.exit_code is None else f" Exit code {self.exit_code}."
        tail = f" The end of its stderr:\n{printable_lines(self.stderr)}" if self.stderr else ""
        return f"{self.reason}{code}{tail}"


class MessageTooLarge(ConnectionClosed):
    """A message was larger than `Options.max_message_bytes`. The connection closes: what follows can't be found."""


class InvalidResponse(Exception):
    """The peer answered a call with something that is no valid answer to it. The connection goes on.

    Args:
        method: the method that was called.
        reason: what is wrong, without the values.
    """

    def __init__(self, method: str, reason: str) -> None:
        super().__init__(method, reason)
        self.method = method
        self.reason = reason

    def __str__(self) -> str:
        return f"The answer to {self.method} is not valid: {self.reason}"


class GuardError(Exception):
    """A call was stopped before anything was sent, because the protocol forbids it at this point."""


class CapabilityError(GuardError):
    """The peer did not advertise what the call needs.

    Args:
        method: the method, and what of it if not all of it.
        capability: the path in the peer's `initialize` message that would unlock it.
    """

    def __init__(self, method: str, capability: str) -> None:
        super().__init__(method, capability)
        self.method = method
        self.capability = capability

    def __str__(self) -> str:
        return f"{self.method} needs {self.capability!r}, which the peer did not advertise in its initialize message"


class NotInitialized(GuardError):
    """A call other than `initialize` was made before `initialize` was answered."""


class RelativePath(GuardError, ValueError):
    """A path that the protocol wants absolute is relative."""


class ProtocolVersionMismatch(Exception):
    """The agent answered `initialize` with a version that this profile does not speak. The connection closes.

    Args:
        offered: the version that the agent wants.
        supported: the version of this profile.
    """

    def __init__(self, offered: int, supported: int) -> None:
        super().__init__(offered, supported)
        self.offered = offered
        self.supported = supported

    def __str__(self) -> str:
        return f"The agent speaks version {self.offered} of the protocol, this profile version {self.supported}"
