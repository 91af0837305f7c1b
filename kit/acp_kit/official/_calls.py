"""The methods of the official connections: the method on the wire, and the official model of the params.

Their signatures, and the models of their results, are those of the installed official SDK. Methods that it doesn't have
are left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, update_wrapper
from typing import Any, NamedTuple, Protocol, TypeVar, get_type_hints

import acp.schema
from acp.utils import serialize_params, to_camel_case
from pydantic import TypeAdapter

from acp_kit.official._warnings import warn_caller

ClassT = TypeVar("ClassT", bound=type)


class Call(NamedTuple):
    """A method on the wire.

    Attributes:
        wire: its name on the wire.
        params: the name of the official model of its params.
        flag_params: the name of the model if its value is true or false.
    """

    wire: str
    params: str
    flag_params: str = ""


# What an agent calls on a client.
TO_CLIENT = {
    "session_update": Call("session/update", "SessionNotification"),
    "request_permission": Call("session/request_permission", "RequestPermissionRequest"),
    "read_text_file": Call("fs/read_text_file", "ReadTextFileRequest"),
    "write_text_file": Call("fs/write_text_file", "WriteTextFileRequest"),
    "create_terminal": Call("terminal/create", "CreateTerminalRequest"),
    "terminal_output": Call("terminal/output", "TerminalOutputRequest"),
    "release_terminal": Call("terminal/release", "ReleaseTerminalRequest"),
    "wait_for_terminal_exit": Call("terminal/wait_for_exit", "WaitForTerminalExitRequest"),
    "kill_terminal": Call("terminal/kill", "KillTerminalRequest"),
    "complete_elicitation": Call("elicitation/complete", "CompleteElicitationNotification"),
    "connect_mcp": Call("mcp/connect", "ConnectMcpRequest"),
    "disconnect_mcp": Call("mcp/disconnect", "DisconnectMcpRequest"),
    "mcp_message": Call("mcp/message", "MessageMcpRequest"),
    "notify_mcp": Call("mcp/message", "MessageMcpNotification"),
}

# What a client calls on an agent.
TO_AGENT = {
    "initialize": Call("initialize", "InitializeRequest"),
    "authenticate": Call("authenticate", "AuthenticateRequest"),
    "logout": Call("logout", "LogoutRequest"),
    "new_session": Call("session/new", "NewSessionRequest"),
    "load_session": Call("session/load", "LoadSessionRequest"),
    "list_sessions": Call("session/list", "ListSessionsRequest"),
    "fork_session": Call("session/fork", "ForkSessionRequest"),
    "resume_session": Call("session/resume", "ResumeSessionRequest"),
    "close_session": Call("session/close", "CloseSessionRequest"),
    "delete_session": Call("session/delete", "DeleteSessionRequest"),
    "set_session_mode": Call("session/set_mode", "SetSessionModeRequest"),
    "set_session_model": Call("session/set_model", "SetSessionModelRequest"),  # of old releases
    "set_config_option": Call(
        "session/set_config_option", "SetSessionConfigOptionSelectRequest", "SetSessionConfigOptionBooleanRequest"
    ),
    "prompt": Call("session/prompt", "PromptRequest"),
    "cancel": Call("session/cancel", "CancelNotification"),
    "list_providers": Call("providers/list", "ListProvidersRequest"),
    "set_provider": Call("providers/set", "SetProviderRequest"),
    "disable_provider": Call("providers/disable", "DisableProviderRequest"),
    "mcp_message": Call("mcp/message", "MessageMcpRequest"),
    "notify_mcp": Call("mcp/message", "MessageMcpNotification"),
    "start_nes": Call("nes/start", "StartNesRequest"),
    "suggest_nes": Call("nes/suggest", "SuggestNesRequest"),
    "close_nes": Call("nes/close", "CloseNesRequest"),
    "accept_nes": Call("nes/accept", "AcceptNesNotification"),
    "reject_nes": Call("nes/reject", "RejectNesNotification"),
    "did_open": Call("document/didOpen", "DidOpenDocumentNotification"),
    "did_change": Call("document/didChange", "DidChangeDocumentNotification"),
    "did_close": Call("document/didClose", "DidCloseDocumentNotification"),
    "did_save": Call("document/didSave", "DidSaveDocumentNotification"),
    "did_focus": Call("document/didFocus", "DidFocusDocumentNotification"),
}

# Fields that official methods fill in if the caller leaves them out.
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {"session/new": {"mcp_servers": []}, "session/load": {"mcp_servers": []}}


class Sender(Protocol):
    """A connection that sends plain JSON."""

    async def send_request(self, method: str, params: Any) -> Any:
        """Send a request, and return its result."""

    async def send_notification(self, method: str, params: Any) -> None:
        """Send a notification."""


def add_calls(official: type, calls: Mapping[str, Call]) -> Callable[[ClassT], ClassT]:
    """Return a decorator that gives a class the methods of an official class, also under their deprecated names."""

    def add(cls: ClassT) -> ClassT:
        for name, call in calls.items():
            function = getattr(official, name, None)
            if function is not None:
                method = _method(_OfficialMethod(function, call))
                setattr(cls, name, method)
                setattr(cls, to_camel_case(name), method)
        return cls

    return add


class _OfficialMethod:
    """A method of an official connection, with its signature and models, which are looked up on first use."""

    def __init__(self, function: Callable[..., Any], call: Call) -> None:
        self.function = function
        self.wire = call.wire
        self.is_notification = call.params.endswith("Notification")
        self._call = call

    @cached_property
    def params(self) -> Any:
        """The model of its params."""
        return getattr(acp.schema, self._call.params)

    @cached_property
    def flag_params(self) -> Any:
        """The model of its params if its value is true or false."""
        return getattr(acp.schema, self._call.flag_params or self._call.params)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Its signature, with `self`."""
        return inspect.signature(self.function)

    @cached_property
    def result(self) -> TypeAdapter[Any]:
        """The type of its result."""
        return TypeAdapter(get_type_hints(self.function)["return"])

    def read(self, result: Any) -> Any:
        """Validate a result. Some peers answer with something else than an object where no field is required."""
        try:
            return self.result.validate_python(result)
        except ValueError:
            if isinstance(result, dict):
                raise
            return self.result.validate_python({})

    def build(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return the params. Keywords that are not in the signature are `_meta`."""
        model = args[0] if len(args) == 1 and not keywords else keywords.get("params")
        if isinstance(model, (self.params, self.flag_params)):
            models = " | ".join(filter(None, (self._call.flag_params, self._call.params)))
            text = f"Calling {self.function.__name__} with {models} parameter is deprecated, please pass keywords."
            warn_caller(text, DeprecationWarning)
            return model
        fields = self.signature.bind(None, *args, **keywords).arguments
        fields = {**_DEFAULTS.get(self.wire, {}), **{name: item for name, item in fields.items() if item is not None}}
        meta = fields.pop("kwargs", None)
        if self._call.flag_params and isinstance(fields["value"], bool):
            return self.flag_params(**fields, type="boolean", field_meta=meta)
        return self.params(**fields, field_meta=meta)


def _method(call: _OfficialMethod) -> Callable[..., Awaitable[Any]]:
    async def request(self: Sender, *args: Any, **keywords: Any) -> Any:
        return call.read(await self.send_request(call.wire, serialize_params(call.build(args, keywords))))

    async def notify(self: Sender, *args: Any, **keywords: Any) -> None:
        await self.send_notification(call.wire, serialize_params(call.build(args, keywords)))

    return update_wrapper(notify if call.is_notification else request, call.function)
