"""OpenTelemetry: spans of calls and handlers, and context propagation. It needs the extra `telemetry`."""

from __future__ import annotations

import re
from asyncio import CancelledError
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.metadata import PackageNotFoundError
from logging import getLogger
from typing import Any, cast

from pydantic import BaseModel

import acp_runtime
from acp_kit.common.extras import require
from acp_kit.common.json_values import members_of
from acp_runtime import InstrumentedMessage, InternalError, Model, RemoteError, RequestCancelled, RequestError
from acp_runtime.jsonrpc import sole_error

require("acp_kit.telemetry", "telemetry", "opentelemetry", "opentelemetry.trace")

from opentelemetry import trace  # noqa: E402 - after the check
from opentelemetry.context import attach, detach, get_current  # noqa: E402
from opentelemetry.propagate import extract, inject  # noqa: E402
from opentelemetry.trace import Span, SpanKind, StatusCode, TracerProvider, get_tracer  # noqa: E402

_logger = getLogger(__name__)

_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Tracing:
    """Traces the messages of a connection: `Options(instrument=Tracing())`.

    Each call is a span of kind CLIENT, each handler of a request one of kind SERVER. Both are named by the method and
    have the attributes `rpc.system.name`, `rpc.method`, `jsonrpc.protocol.version`, `jsonrpc.request.id` and, if the
    message belongs to a session, `acp.session.id`. Notifications have no spans.

    Sent messages carry the current context as `traceparent`, `tracestate` and `baggage` in `params._meta`, as the
    application has configured its propagators. Handlers run in the received context. A message that has a `traceparent`
    already is not changed.

    The span of a failed call or handler has the status ERROR, the name of the exception's class as description, and
    `error.type`. If the response is an error, its code is `error.type` and `rpc.response.status_code`. The span of a
    cancelled call or handler has the attribute `acp.cancelled` instead. No span has params, results, or texts of
    errors. Errors of span processors and propagators are logged, and don't fail the call.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        """Use a tracer.

        Args:
            tracer_provider: makes the tracer; by default the provider that the application has set, even later. Without
                any, there are no spans, and messages are not changed.
        """
        version: str | None = None
        with suppress(PackageNotFoundError):  # a program that was frozen without metadata
            version = acp_runtime.__version__
        self._tracer = get_tracer("acp_kit", version, tracer_provider)

    def __call__(self, message: InstrumentedMessage) -> AbstractContextManager[Any]:
        """Return the context manager for a message. `Options.instrument` calls this."""
        if message.direction == "in":
            return self._handling(message)
        return self._sending(message)

    @contextmanager
    def _sending(self, message: InstrumentedMessage) -> Generator[Any]:
        with self._span(message, SpanKind.CLIENT):
            yield _with_context(message)

    @contextmanager
    def _handling(self, message: InstrumentedMessage) -> Generator[None]:
        # Propagators log values that aren't text as faults of this program, and fail on lone surrogates.
        texts = {key: value for key, value in _meta(message.params).items() if isinstance(value, str)}
        carrier = {key: value for key, value in texts.items() if not _SURROGATE.search(value)}
        received = get_current()
        with _logging_errors():
            received = extract(carrier)
        token = attach(received)
        try:
            with self._span(message, SpanKind.SERVER):
                yield
        finally:
            detach(token)

    @contextmanager
    def _span(self, message: InstrumentedMessage, kind: SpanKind) -> Generator[None]:
        if message.id is None:
            yield
            return
        span: Span = trace.INVALID_SPAN
        with _logging_errors():
            attributes = {
                "rpc.system.name": "jsonrpc",
                "rpc.method": message.wire,
                "jsonrpc.protocol.version": "2.0",
                "jsonrpc.request.id": str(message.id),
            }
            if message.session is not None:
                attributes["acp.session.id"] = message.session
            span = self._tracer.start_span(message.wire, kind=kind, attributes=attributes)
        try:
            # An exception would be recorded with its text and traceback.
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield
        except BaseException as error:
            with _logging_errors():
                _record(span, kind, error)
            raise
        finally:
            with _logging_errors():
                span.end()


@contextmanager
def _logging_errors() -> Generator[None]:
    """Log exceptions of span processors and propagators, instead of failing the call."""
    try:
        yield
    except Exception:
        _logger.exception("OpenTelemetry raised an error")


def _record(span: Span, kind: SpanKind, error: BaseException) -> None:
    """Record how a call or a handler failed, without the text of the error."""
    is_handler = kind is SpanKind.SERVER
    error = sole_error(error)
    if isinstance(error, (CancelledError, GeneratorExit)) or (is_handler and type(error) is RequestCancelled):
        span.set_attribute("acp.cancelled", True)
        return
    code = _code_sent(error) if is_handler else error.code if isinstance(error, RemoteError) else None
    if code is not None:
        span.set_attribute("rpc.response.status_code", str(code))
    span.set_attribute("error.type", type(error).__qualname__ if code is None else str(code))
    span.set_status(StatusCode.ERROR, type(error).__name__)


def _code_sent(error: BaseException) -> int | None:
    """Return the code of the response to a handler's exception; None if the turn was cancelled."""
    if isinstance(error, RequestError) and not isinstance(error, RemoteError):
        return error.code
    request = acp_runtime.current_request()
    return None if request is not None and request.turn_cancelled else InternalError.default_code


def _with_context(message: InstrumentedMessage) -> Any:
    """Return the params of a message with the current context, if there is one and `_meta` is allowed."""
    params: Any = message.params
    meta = _meta(params)
    context = dict[str, str]()
    if "traceparent" not in meta and _allows_meta(message):
        with _logging_errors():
            inject(context)
            injected = cast("dict[object, object]", context)
            not_text = [
                name for name, value in injected.items() if not (isinstance(name, str) and isinstance(value, str))
            ]
            for name in not_text:
                del injected[name]
            if not_text:
                raise TypeError(f"A propagator has injected values that aren't text: {not_text}")
    if not context:
        return params
    if isinstance(params, Model):
        return params.model_copy(update={"meta": {**context, **meta}})
    return {**params, "_meta": {**context, **meta}}


def _allows_meta(message: InstrumentedMessage) -> bool:
    """Whether params may have `_meta`: models of the schema, and JSON unless an extension's model forbids it."""
    params = message.params
    method = message.method
    if not isinstance(params, dict):
        return isinstance(params, Model) and method is not None
    may_be_unknown = method is None or method.params_type.model_config.get("extra") != "forbid"
    return may_be_unknown and isinstance(cast("dict[str, Any]", params).get("_meta", {}), dict)


def _meta(params: Any) -> Mapping[str, Any]:
    """Return the `_meta` of params; empty if they have none."""
    if isinstance(params, BaseModel):
        return members_of(getattr(params, "meta", None) or (params.model_extra or {}).get("_meta"))
    return members_of(params, "_meta")
