"""The results of methods: which models they are, and how they are parsed from responses (rules 9 and 10)."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema, from_json
from pydantic_core.core_schema import CoreSchema

from acp_runtime.errors import InvalidResponse
from acp_runtime.jsonrpc.error_responses import explain, summary
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.surrogates_and_depth import validate
from acp_runtime.jsonrpc.tolerant import parse
from acp_runtime.models import union_members
from acp_runtime.models.union_members import concrete_models
from acp_runtime.stubs.methods import Request


class _ResponseFrame:
    """An annotation with the schema of a response's frame, which keeps only the result."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        result = core_schema.typed_dict_field(handler.generate_schema(self._result))
        return core_schema.typed_dict_schema({"result": result}, extra_behavior="ignore")


def parse_result(method: Request[Any, Any], response: IncomingResponse) -> Any:
    """Parse the result of a successful response.

    Raises:
        InvalidResponse: if it is not a valid result of the method.
    """
    line = b'{"result":{}}' if response.is_null and _null_is_empty(method) else response.line
    validate_json = _adapter(method).validator.validate_json
    try:
        try:
            return validate_json(line)["result"]
        except ValidationError as error:
            if not _is_syntax_error(error):
                raise
            return validate(validate_json, {"result": plain_result(response)})["result"]
    except ValidationError as error:
        reason = "the result is null" if response.is_null else summary(explain(error, 1), "result")
    except Exception as error:  # raised by a validator of an extension's result
        raise InvalidResponse(method.wire, f"a validator raised {type(error).__name__}") from error
    raise InvalidResponse(method.wire, reason)


def plain_result(response: IncomingResponse) -> Any:
    """Return the result of a response as plain JSON."""
    try:
        return from_json(response.line)["result"]
    except ValueError:
        return parse(response.line).value["result"]


def _is_syntax_error(error: ValidationError) -> bool:
    """Return whether pydantic-core couldn't parse the JSON, because of a lone surrogate or deep nesting.

    The line can't be invalid JSON, since the decoder has read it before.
    """
    return error.error_count() == 1 and error.errors(include_input=False)[0]["type"] == "json_invalid"


def build_result(method: Request[Any, Any], json: bytes) -> Any:
    """Build a result from JSON that is known to be valid."""
    return _adapter(method).validator.validate_json(b'{"result":%b}' % json)["result"]


def is_result(method: Request[Any, Any], value: Any) -> bool:
    """Return whether a handler's return value is a result of its method."""
    models = _result_models(method)
    return not models or type(value) in models or isinstance(value, models)


def as_declared(method: Request[Any, Any], result: Any) -> Any:
    """Return a result as an instance of the class that its method declares, not of a user's subclass.

    Return the result of an extension method as plain JSON.

    Raises:
        TypeError: if it is not a result of the extension method.
    """
    models = _result_models(method)
    if not models and method.side == "extension":
        from acp_runtime.jsonrpc.extensions import dump_result  # not loaded by programs without extensions

        return dump_result(method, result)
    return union_members.as_declared(result, models)


def _null_is_empty(method: Request[Any, Any]) -> bool:
    if method.side != "extension":
        return bool(_result_models(method))
    from acp_runtime.jsonrpc.extensions import null_is_empty  # not loaded by programs without extensions

    return null_is_empty(method)


def can_be_empty(method: Request[Any, Any]) -> bool:
    """Return whether `{}` is a valid result of a method."""
    models = _result_models(method)
    return bool(models) and not any(field.is_required() for model in models for field in model.model_fields.values())


@cache
def _result_models(method: Request[Any, Any]) -> tuple[type[BaseModel], ...]:
    """Return the models that a method's result can be; empty if it can be any JSON, or is an application's type."""
    return () if method.side == "extension" else tuple(concrete_models(method.result_type))


@cache
def _adapter(method: Request[Any, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(Annotated[Any, _ResponseFrame(method.result_type)])
