"""Dispatch: decodes each received line and passes the message to the part of the connection that handles it."""

from __future__ import annotations

from logging import DEBUG, WARNING, getLogger
from typing import Any

from acp_runtime.connection.incoming import Incoming
from acp_runtime.connection.observer import frame_observer
from acp_runtime.connection.responses import Responses
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed, InvalidParams, ParseError
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.error_responses import safe_error_line
from acp_runtime.jsonrpc.messages import (
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    InvalidNotification,
    Refused,
)
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import Options
from acp_runtime.stubs.sides import Side

_logger = getLogger(__name__)


class Dispatch:
    """Passes on the messages that one side receives.

    Args:
        side: the side that receives them.
        decoder: turns lines into messages.
        incoming: handles requests and notifications.
        responses: resolves the calls of this side.
        writer: sends errors for messages that are refused.
        options: `on_frame` is called with each line.
    """

    def __init__(
        self,
        side: Side[Any],
        decoder: Decoder,
        incoming: Incoming,
        responses: Responses,
        writer: Writer,
        options: Options,
    ) -> None:
        self._decode = decoder.decode
        self._incoming = incoming
        self._responses = responses
        self._writer = writer
        self._observe = frame_observer(options)
        self._log = ThrottledLogger(_logger)
        # Only agents print text to stdout before their first message.
        self._has_spoken = side.role == "agent"
        self._banner = ""

    def receive(self, lines: list[bytes]) -> None:
        """Decode lines and pass the messages on. Never raises."""
        for line in lines:
            if self._observe is not None:
                self._observe("in", line)
            message = self._decode(line)
            # Not `isinstance`, which takes longer to say no (benchmark row `concurrent`).
            if type(message) is IncomingNotification:
                self._incoming.notification(message, line)
            elif type(message) is IncomingRequest:
                self._incoming.request(message, line)
            elif type(message) is IncomingResponse:
                self._responses.received(message)
            elif type(message) is Refused:
                self._refuse(message, line)
            elif type(message) is InvalidNotification:
                self._incoming.invalid_notification(message, line)
            else:
                self._log.log(DEBUG, "ignored", "Ignored a notification: %s", message.reason)
            if not self._has_spoken:
                self._has_spoken = not isinstance(message, Refused)

    def explain(self, reason: ConnectionClosed) -> ConnectionClosed:
        """Return the reason why the connection ended; for an agent that only printed text, with that text."""
        if not self._banner or self._has_spoken:
            return reason
        text = f"{reason.reason} Before that it sent {self._banner}."
        return type(reason)(text, reason.exit_code, reason.stderr)

    def _refuse(self, message: Refused, line: bytes) -> None:
        """Answer with an error. Text that an agent prints before its first message is reported once (a banner)."""
        if message.error.code == InvalidParams.default_code:
            self._incoming.invalid_request(message, line)
            return
        if message.response_to is not None:
            self._responses.fail_unreadable(message.response_to, message.description)
        if message.id is None and message.error.code == ParseError.default_code:
            if not self._has_spoken and self._banner:
                return
            self._banner = self._banner or message.description
        if message.description:
            self._log.log(WARNING, "refused", "The peer sent %s", message.description)
        self._writer.answer(safe_error_line(message.id, message.error))
