"""Everything this package raises on purpose.

`RequestError` and its subclasses are the errors of JSON-RPC: a handler raises one to answer with it. A call that the
peer answered with an error raises a `RemoteError`. All others are about this side and are never sent.
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

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (type(self), self.code, self.message, self.data), self.__dict__

    @staticmethod
    def of(code: int, message: str, data: Any = None) -> RequestError:
        """The error of a code: an instance of its subclass if the code has one."""
        error: RequestError = _make(_BY_CODE.get(code, RequestError), code, message, data)
        return error


def _make(cls: type[RequestError], code: int, message: str, data: Any) -> Any:
    """An instance of a class, whatever its own constructor takes."""
    error = cls.__new__(cls)
    RequestError.__init__(error, code, message, data)
    return error


class RemoteError(RequestError):
    """What the peer answered to a call. It is an instance of its code's class, too: `except AuthenticationRequired`.

    A handler that lets it escape answers its own request with -32603: the peer's error is about another request. To
    answer with it, raise a new `RequestError` from it.

    Attributes:
        hint: where to look for the cause; empty if nothing is known.
    """

    hint: str = ""

    @staticmethod
    def of(code: int, message: str, data: Any = None) -> RemoteError:
        """The error of a code: an instance of its class, too, if the code has one."""
        error: RemoteError = _make(_REMOTE_BY_CODE.get(code, RemoteError), code, message, data)
        return error

    def __str__(self) -> str:
        return f"{super().__str__()}. {self.hint}" if self.hint else super().__str__()


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

# In this module under their names, so that they can be pickled.
_REMOTE_BY_CODE: dict[int, type[RemoteError]] = {
    code: type(f"Remote{cls.__name__}", (RemoteError, cls), {"__module__": __name__, "__doc__": cls.__doc__})
    for code, cls in _BY_CODE.items()
}
globals().update({cls.__name__: cls for cls in _REMOTE_BY_CODE.values()})


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
    """A message was larger than `Options.max_message_bytes`.

    The connection closes, because the next message boundary is unknown.
    """


class InvalidResponse(Exception):
    """The peer answered a call with an invalid response. The connection goes on.

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
