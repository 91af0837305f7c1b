"""The results of methods: which models they are, and how they are parsed from responses (rules 9 and 10).

Params and results of typed extension methods become plain JSON here. They are models of an application, whose JSON
uses the aliases of their fields.
"""

from __future__ import annotations

from functools import cache
from logging import DEBUG, getLogger
from typing import Annotated, Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetPydanticSchema, TypeAdapter, ValidationError
from pydantic_core import core_schema, from_json

from acp_runtime.errors import InvalidResponse, RemoteError
from acp_runtime.jsonrpc.dropped_values import log_dropped
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.jsonrpc.error_responses import explain, summary
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.strict_json import read
from acp_runtime.models import union_members
from acp_runtime.models.json_values import as_object
from acp_runtime.models.union_members import concrete_models
from acp_runtime.stubs.methods import AnyMethod, Request

_logger = getLogger(__name__)


def parse_result(method: Request[Any, Any], response: IncomingResponse) -> Any:
    """Parse the result of a successful response.

    Raises:
        InvalidResponse: if it is not a valid result of the method.
    """
    line = b'{"result":{}}' if response.is_null and _result_models(method) else response.line
    try:
        result = read(_adapter(method).validator.validate_json, line)["result"]
    except ValidationError as error:
        reason = "the result is null" if response.is_null else summary(explain(error, 1), "result")
    except Exception as error:  # raised by a validator of an extension's result
        raise InvalidResponse(method.wire, f"a validator raised {type(error).__name__}") from error
    else:
        if _logger.isEnabledFor(DEBUG):
            log_dropped(method, "result", line, result)
        return result
    raise InvalidResponse(method.wire, reason)


def parse_error(wire: str, response: IncomingResponse) -> RemoteError:
    """Return the error in a response.

    Raises:
        InvalidResponse: if it is malformed.
    """
    body = as_object(response.error) or {}
    code, message = body.get("code"), body.get("message")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        raise InvalidResponse(wire, "its error has no integer `code` and string `message`")
    return RemoteError.of(code, message, body.get("data"))


def plain_result(response: IncomingResponse) -> Any:
    """Return the result of a response as plain JSON."""
    return read(from_json, response.line)["result"]


def build_result(method: Request[Any, Any], json: bytes) -> Any:
    """Build a result from JSON that is known to be valid."""
    return _adapter(method).validator.validate_json(b'{"result":%b}' % json)["result"]


def as_result(method: Request[Any, Any], returned: Any) -> Any:
    """Return what a handler returned as the result of its method: as the class that it declares, not a user's subclass.

    None is a result without fields. The result of an extension method becomes plain JSON.

    Raises:
        TypeError: if it has another type.
        PydanticSerializationError: if it contains something that is not JSON.
    """
    models = _result_models(method)
    if returned is None and models and not any(model.model_fields.keys() - {"meta"} for model in models):
        returned = build_result(method, b"{}")
    if models and type(returned) not in models and not isinstance(returned, models):
        raise TypeError(_wrong_result(method, returned))
    if method.side == "extension":
        return _plain_json(method.result_type, returned)
    return union_members.as_declared(returned, models)


def _wrong_result(method: Request[Any, Any], returned: Any) -> str:
    kind = "None" if returned is None else type(returned).__name__
    advice = "Return an instance of it"
    if returned is None:
        advice += " for success; raise ResourceNotFound for what doesn't exist"
    return f"The handler of {method.wire} returned {kind}, not {method.result}. {advice}."


def dump_params(method: AnyMethod, params: Any) -> Any:
    """Return the params of a call of an extension method as plain JSON.

    Raises:
        TypeError: if they have another type than the method declares.
        PydanticSerializationError: if they contain something that is not JSON.
    """
    if not isinstance(params, method.params_type):
        raise TypeError(f"{method.wire} takes {method.params}, not {type(params).__name__}.")
    return _plain_json(method.params_type, params)


@cache
def _result_models(method: Request[Any, Any]) -> tuple[type[BaseModel], ...]:
    """Return the models that a method's result can be; empty if it can be any JSON."""
    return tuple(concrete_models(method.result_type))


@cache
def _adapter(method: Request[Any, Any]) -> TypeAdapter[Any]:
    def response(_: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        field = core_schema.typed_dict_field(handler.generate_schema(method.result_type))
        return core_schema.typed_dict_schema({"result": field}, extra_behavior="ignore")

    return TypeAdapter(Annotated[Any, GetPydanticSchema(response)])


def _plain_json(model: type[BaseModel], value: Any) -> Any:
    return read(from_json, dump(value, model.__pydantic_serializer__, by_alias=True))
