"""The results of methods: which models they are, and how they are parsed from responses (rules 9 and 10).

Params and results of typed extension methods become plain JSON here. An application declares their types: models,
dataclasses or TypedDicts. Their JSON uses the aliases of their fields.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema, from_json
from pydantic_core.core_schema import CoreSchema

from acp_runtime.errors import InvalidResponse
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.jsonrpc.error_responses import explain, summary
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.strict_json import read
from acp_runtime.models import union_members
from acp_runtime.models.union_members import concrete_models
from acp_runtime.stubs.methods import AnyMethod, Request


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
    try:
        return read(_adapter(method).validator.validate_json, line)["result"]
    except ValidationError as error:
        reason = "the result is null" if response.is_null else summary(explain(error, 1), "result")
    except Exception as error:  # raised by a validator of an extension's result
        raise InvalidResponse(method.wire, f"a validator raised {type(error).__name__}") from error
    raise InvalidResponse(method.wire, reason)


def plain_result(response: IncomingResponse) -> Any:
    """Return the result of a response as plain JSON."""
    return read(from_json, response.line)["result"]


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
        PydanticSerializationError: if it contains something that is not JSON.
    """
    models = _result_models(method)
    if models or method.side != "extension":
        return union_members.as_declared(result, models)
    if result is None and _null_is_empty(method) and _accepts(method, b"{}"):
        return {}
    if not _has_type(method.result_type, result):
        raise TypeError(f"The handler of {method.wire} returned {type(result).__name__}, not {method.result}.")
    try:
        return _to_plain_json(_extension_adapter(method), method.result_type, result)
    except ValidationError as error:
        faults = summary(explain(error, 0), "result")
    raise TypeError(f"The handler of {method.wire} returned an invalid {method.result}: {faults}.")


def dump_params(method: AnyMethod, params: Any) -> Any:
    """Return the params of a call of an extension method as plain JSON.

    Raises:
        TypeError: if they have another type than the method declares.
        ValidationError: if they are not valid for that type.
        PydanticSerializationError: if they contain something that is not JSON.
    """
    if not _has_type(method.params_type, params):
        raise TypeError(f"{method.wire} takes {method.params}, not {type(params).__name__}.")
    return _to_plain_json(params_adapter(method), method.params_type, params)


def can_be_empty(method: Request[Any, Any]) -> bool:
    """Return whether `{}` is a valid result of a method."""
    models = _result_models(method)
    return bool(models) and not any(field.is_required() for model in models for field in model.model_fields.values())


@cache
def _null_is_empty(method: Request[Any, Any]) -> bool:
    """Return whether a result of null is read as an empty object (rule 10). It isn't if null is a result."""
    return not _accepts(method, b"null") if method.side == "extension" else bool(_result_models(method))


@cache
def _result_models(method: Request[Any, Any]) -> tuple[type[BaseModel], ...]:
    """Return the models that a method's result can be; empty if it can be any JSON, or is an application's type."""
    return () if method.side == "extension" else tuple(concrete_models(method.result_type))


@cache
def _adapter(method: Request[Any, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(Annotated[Any, _ResponseFrame(method.result_type)])


@cache
def _extension_adapter(method: Request[Any, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(method.result_type)


def _accepts(method: Request[Any, Any], json: bytes) -> bool:
    try:
        _extension_adapter(method).validator.validate_json(json)
    except Exception:  # validators of an application may raise anything
        return False
    return True


def _has_type(declared: Any, value: Any) -> bool:
    """Return whether a value is an instance of a class. TypedDicts and the like are checked by validating the JSON."""
    try:
        return not isinstance(declared, type) or isinstance(value, declared)
    except TypeError:
        return True


def _to_plain_json(adapter: TypeAdapter[Any], declared: Any, value: Any) -> Any:
    line = dump(value, adapter.serializer, by_alias=True)
    if not (isinstance(declared, type) and issubclass(declared, BaseModel)):
        read(adapter.validator.validate_json, line)  # nothing else has validated it
    return read(from_json, line)
