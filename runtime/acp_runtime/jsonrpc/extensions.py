"""Params and results of typed extension methods as plain JSON, ready to be sent.

An application declares their types: models, dataclasses or TypedDicts. Their JSON uses the aliases of their fields.
This module is loaded only by programs that have extension methods.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from acp_runtime.jsonrpc.encoding import to_plain_json, without_values
from acp_runtime.jsonrpc.error_responses import explain, summary
from acp_runtime.jsonrpc.frames import params_adapter
from acp_runtime.jsonrpc.surrogates_and_depth import validate
from acp_runtime.stubs.extensions import type_name
from acp_runtime.stubs.methods import AnyMethod, Request


def dump_params(method: AnyMethod, params: Any) -> Any:
    """Return the params of a call as plain JSON.

    Raises:
        TypeError: if they have another type than the method declares.
        ValidationError: if they are not valid for that type.
        PydanticSerializationError: if they contain something that is not JSON.
    """
    if not _has_type(method.params_type, params):
        raise TypeError(f"{method.wire} takes {method.params}, not {type_name(type(params))}.")
    return _dump(params_adapter(method), method.params_type, params)


def dump_result(method: Request[Any, Any], result: Any) -> Any:
    """Return what a handler returned as plain JSON.

    Raises:
        TypeError: if it is not a result of the method.
        PydanticSerializationError: if it contains something that is not JSON.
    """
    if result is None and null_is_empty(method) and _accepts(method, b"{}"):
        return {}
    if not _has_type(method.result_type, result):
        raise TypeError(f"The handler of {method.wire} returned {type_name(type(result))}, not {method.result}.")
    try:
        return _dump(_result_adapter(method), method.result_type, result)
    except ValidationError as error:
        faults = summary(explain(error, 0), "result")
    raise TypeError(f"The handler of {method.wire} returned an invalid {method.result}: {faults}.")


@cache
def null_is_empty(method: Request[Any, Any]) -> bool:
    """Return whether a result of null is read as an empty object (rule 10). It isn't if null is a result."""
    return not _accepts(method, b"null")


def _accepts(method: Request[Any, Any], json: bytes) -> bool:
    try:
        _result_adapter(method).validator.validate_json(json)
    except Exception:  # validators of an application may raise anything
        return False
    return True


@cache
def _result_adapter(method: Request[Any, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(method.result_type)


def _has_type(declared: Any, value: Any) -> bool:
    """Return whether a value is an instance of a class. TypedDicts and the like are checked by validating the JSON."""
    try:
        return not isinstance(declared, type) or isinstance(value, declared)
    except TypeError:
        return True


def _dump(adapter: TypeAdapter[Any], declared: Any, value: Any) -> Any:
    try:
        json = adapter.dump_python(value, mode="json", by_alias=True, warnings="error")
    except ValueError as error:
        # The JSON may be nested too deeply for pydantic-core, but not for this connection.
        try:
            json = to_plain_json(value, lambda each: adapter.dump_json(each, by_alias=True, warnings="error"))
        except PydanticSerializationError:
            raise without_values(error) from None
    if not (isinstance(declared, type) and issubclass(declared, BaseModel)):
        validate(adapter.validator.validate_json, json)  # nothing else has validated it
    return json
