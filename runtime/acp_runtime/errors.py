"""All exceptions that this package defines.

`RequestError` and its subclasses are JSON-RPC errors: a handler raises one to answer a request with it. A call that the
peer answered with an error raises a `RemoteError`. All other exceptions are local and are never sent.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from acp_runtime.escaping import printable, printable_lines

# The maximum length of the peer's message in the text of an exception, in characters.
_MAX_MESSAGE = 2000
_MAX_DETAILS = 500
# The maximum length of a method's name that is echoed to the peer, in characters.
_MAX_METHOD = 200


class RequestError(Exception):
    """A JSON-RPC error, which a handler raises to answer a request with it.

    Args:
        code: the error code (JSON-RPC 2.0 section 5.1; ACP's own codes start at -32000).
        message: a short sentence for the peer.
        data: any JSON value that helps the peer.
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

    @classmethod
    def of(cls, code: int, message: str, data: Any = None) -> Self:
        """Return the error with a code, as an instance of the code's subclass if there is one."""
        error: Self = _make(_BY_CODE.get((cls, code), cls), code, message, data)
        return error


def _make(cls: type[RequestError], code: int, message: str, data: Any) -> Any:
    """Create an error without calling the constructor of its class, because subclasses take other arguments."""
    error = cls.__new__(cls)
    RequestError.__init__(error, code, message, data)
    return error


class RemoteError(RequestError):
    """The error that the peer answered a call with.

    It is also an instance of its code's class, so `except AuthenticationRequired` catches it. If a handler lets it
    propagate, the handler's own request is answered with -32603, because the peer's error is about another request. To
    pass the error on, `raise error.as_own_error() from error`.

    Attributes:
        hint: where to look for the cause; "" if unknown.
    """

    hint: str = ""

    def as_own_error(self) -> RequestError:
        """Return an error with the same code, message and data, which a handler can raise to answer with it."""
        return RequestError.of(self.code, self.message, self.data)

    def __str__(self) -> str:
        """Return the message with the reason, which SDKs put into `data` or its `details`, and the hint.

        If this package has refused params, the reason is the first field at fault.
        """
        match self.data:
            case str(reason) | {"details": str(reason)}:
                pass
            case {"errors": [{"path": str(path), "message": str(message)}, *others]}:
                reason = f"{path}: {message}" + (f" (and {len(others)} more)" if others else "")
            case _:
                reason = ""
        shown = f": {printable(reason, _MAX_DETAILS)}" if reason else ""
        return f"{super().__str__()}{shown}" + (f". {self.hint}" if self.hint else "")


# The classes of `RequestError` and of `RemoteError`, by code.
_BY_CODE: dict[tuple[type[RequestError], int], type[RequestError]] = {}


class _Coded(RequestError):
    """An error whose class determines the code.

    Args:
        message: a short sentence for the peer; by default the name of the code.
        data: any JSON value that helps the peer.
    """

    default_code: ClassVar[int]
    default_message: ClassVar[str]

    def __init_subclass__(cls, code: int | None = None, message: str = "") -> None:
        super().__init_subclass__()
        if code is not None:  # not a subclass of a user
            cls.default_code, cls.default_message, _BY_CODE[RequestError, code] = code, message, cls

    def __init__(self, message: str | None = None, data: Any = None) -> None:
        super().__init__(self.default_code, self.default_message if message is None else message, data)


class ParseError(_Coded, code=-32700, message="Parse error"):
    """-32700: the received line is not JSON."""


class InvalidRequest(_Coded, code=-32600, message="Invalid request"):
    """-32600: the received JSON is not a message, or the message is not allowed yet."""


class MethodNotFound(_Coded, code=-32601, message="Method not found"):
    """-32601: the method does not exist or is not implemented."""

    def __init__(self, method: str) -> None:
        super().__init__(data={"method": method[:_MAX_METHOD]})


class InvalidParams(_Coded, code=-32602, message="Invalid params"):
    """-32602: the params of the request are invalid."""


class InternalError(_Coded, code=-32603, message="Internal error"):
    """-32603: handling the request failed."""


class RequestCancelled(_Coded, code=-32800, message="Request cancelled"):
    """-32800: the request was cancelled before it had a result."""


class AuthenticationRequired(_Coded, code=-32000, message="Authentication required"):
    """-32000: the client has to authenticate first."""


class ResourceNotFound(_Coded, code=-32002, message="Resource not found"):
    """-32002: a file, a session or another resource does not exist."""


class UnsupportedProtocolVersion(_Coded, code=-32022, message="Unsupported protocol version"):
    """-32022: the agent does not support the requested protocol version or any older one (version 2)."""


for _key, _cls in tuple(_BY_CODE.items()):
    _remote = type(f"Remote{_cls.__name__}", (RemoteError, _cls), {"__module__": __name__, "__doc__": _cls.__doc__})
    # Also added to this module by name, so that they can be pickled.
    _BY_CODE[RemoteError, _key[1]] = globals()[_remote.__name__] = _remote


class ConnectionClosed(Exception):
    """The connection closed while a call was pending, or before the call was made.

    Args:
        reason: a sentence that says why it closed.
        exit_code: the exit code of the agent's process, negative for a signal; None if there is no process, it is
            still running, or the code is unknown.
        stderr: the end of the process's stderr, decoded, at most `Options.stderr_tail` bytes.
    """

    def __init__(self, reason: str, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__(reason, exit_code, stderr)
        self.reason = reason
        self.exit_code = exit_code
        self.stderr = stderr

    def __str__(self) -> str:
        code = "" if self.exit_code is None else f" Exit code: {self.exit_code}."
        last = self.stderr.rstrip()
        tail = f" Last output on stderr:\n{printable_lines(last)}" if last else ""
        return f"{self.reason}{code}{tail}"


class MessageTooLarge(ConnectionClosed):
    """A message was larger than `Options.max_message_bytes`.

    The connection closes, because the next message boundary is unknown.
    """


class InvalidResponse(Exception):
    """The peer answered a call with an invalid response. The connection stays open.

    Args:
        method: the method that was called.
        reason: what is wrong with the response, without its values.
    """

    def __init__(self, method: str, reason: str) -> None:
        super().__init__(method, reason)
        self.method = method
        self.reason = reason

    def __str__(self) -> str:
        return f"The response to {self.method} is invalid: {self.reason}"


class GuardError(Exception):
    """A call was refused before anything was sent, because the protocol forbids it now."""


class CapabilityError(GuardError):
    """The peer did not advertise a capability that the call needs.

    Args:
        method: the method, or "The result of" and the method; then the part of the message that needs the capability,
            if it isn't the whole message.
        capability: the path of the missing capability in the peer's `initialize` message.
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
    """A path is relative, but the protocol requires an absolute one."""


class OversizedMessage(GuardError):
    """A message is larger than `Options.max_message_bytes`: a peer with this limit would close the connection.

    Args:
        method: the method of the message, or of the request that it answers.
        size: the size of the message in bytes.
        limit: the limit.
    """

    def __init__(self, method: str, size: int, limit: int) -> None:
        super().__init__(method, size, limit)
        self.method = method
        self.size = size
        self.limit = limit

    def __str__(self) -> str:
        return f"A message of {self.method} has {self.size} bytes, more than {self.limit} (Options.max_message_bytes)"


class LoginMethodError(GuardError):
    """A login names a method that the agent doesn't advertise, or one that runs in a terminal instead."""


class ProtocolVersionMismatch(Exception):
    """The agent answered `initialize` with a protocol version that this profile does not support.

    The connection closes.

    Args:
        offered: the version that the agent chose.
        supported: the version of this profile.
    """

    def __init__(self, offered: int, supported: int) -> None:
        super().__init__(offered, supported)
        self.offered = offered
        self.supported = supported

    def __str__(self) -> str:
        return f"The agent chose protocol version {self.offered}, but this profile has only version {self.supported}"
