"""Logs what leniency drops from a message: invalid values where the schema has them left out (rule 30).

pydantic-core drops them without a trace. While the logger is at DEBUG, each message is validated once more, by a
validator that reports a dropped value as an error.
"""

from __future__ import annotations

from functools import cache
from logging import DEBUG, getLogger
from typing import Annotated, Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError, SchemaValidator, core_schema

from acp_runtime.jsonrpc.error_responses import explain, path_of, summary
from acp_runtime.jsonrpc.frames import MemberSchema
from acp_runtime.jsonrpc.strict_json import read
from acp_runtime.logs import log
from acp_runtime.models.errors import meant
from acp_runtime.models.json_values import as_object
from acp_runtime.stubs.methods import AnyMethod

_DROPPED = "dropped"
# Python remembers each dropped value of a longer message, which would take too much memory.
_MAX_LINE = 256 * 1024

_logger = getLogger(__name__)


def log_dropped(method: AnyMethod, member: str, line: bytes) -> None:
    """Log the path of each dropped value and the reason, without values.

    Args:
        method: the method of the message. An extension's models have no leniency.
        member: the member of the message that is the model, "params" or "result".
        line: the message, which is valid.
    """
    if method.side == "extension":
        return
    if len(line) > _MAX_LINE:
        log(_logger, DEBUG, "Not looking for dropped values in the %s of %s: too long", member, method.wire)
        return
    try:
        read(_validator(method, member).validate_json, line)
    except ValidationError as error:
        for each in meant(error.errors(include_input=False, include_url=False, include_context=False)):
            if each["type"] == _DROPPED:
                path = path_of(each["loc"])
                log(_logger, DEBUG, "Dropped %s of %s: %s", path, method.wire, each["msg"])


class _Untyped:
    """In place of a model, so that pydantic-core doesn't use the validator that the class has already."""

    def model_dump(self) -> dict[str, Any]:
        """Return nothing, for validators that look at the JSON of a model."""
        return {}


@cache
def _validator(method: AnyMethod, member: str) -> SchemaValidator:
    kind: Any = getattr(method, f"{member}_type")
    return SchemaValidator(_tracing(TypeAdapter(Annotated[Any, MemberSchema(member, kind)]).core_schema))


def _tracing(schema: Any) -> Any:
    """Return a schema where each place that drops invalid values reports them as errors."""
    if isinstance(schema, (list, tuple)):
        parts = [_tracing(part) for part in cast("list[Any]", schema)]
        return parts if isinstance(schema, list) else tuple(parts)
    members = as_object(schema)
    if members is None:
        return schema
    changed = {key: _tracing(value) for key, value in members.items()}
    if changed.pop("on_error", None):
        changed["schema"] = core_schema.no_info_wrap_validator_function(_report, changed["schema"])
    if changed.get("type") == "model":
        changed["cls"] = _Untyped
    elif changed.get("type") == "list":
        changed["fail_fast"] = False
    return changed


def _report(value: Any, handler: Any) -> Any:
    try:
        return handler(value)
    except ValidationError as error:
        if all(each["type"] == _DROPPED for each in meant(error.errors(include_input=False))):
            raise  # only parts of it are dropped
        reason = summary(explain(error, 0), "").removeprefix(": ")
        raise PydanticCustomError(_DROPPED, "{reason}", {"reason": reason}) from None
