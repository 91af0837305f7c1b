"""The results of calls: what type they have, and how an answer becomes one (rules 9 and 10)."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema, from_json
from pydantic_core.core_schema import CoreSchema

from acp_runtime.errors import InvalidResponse
from acp_runtime.jsonrpc.error_responses import explain, summary
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.placeholders import validate
from acp_runtime.jsonrpc.tolerant import parse
from acp_runtime.models.dumping import AsDeclared
from acp_runtime.models.schema_context import receiving
from acp_runtime.models.union_members import concrete_models
from acp_runtime.models.validation_errors import narrow_json_error
from acp_runtime.stubs.methods import Request


class _Answer:
    """The type of an answer's frame, of which the result alone is kept."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        result = core_schema.typed_dict_field(handler.generate_schema(self._result))
        return core_schema.typed_dict_schema({"result": result}, extra_behavior="ignore")


def parse_result(method: Request[Any, Any], response: IncomingResponse) -> Any:
    """The result in a response that has one.

    Raises:
        InvalidResponse: if it is not what the method answers with.
    """
    line = b'{"result":{}}' if response.is_null and _leaves(method) else response.line
    validate_json = _adapter(method).validator.validate_json
    try:
        try:
            return validate_json(line)["result"]
        except ValidationError as error:
            if not _is_syntax(error):
                raise
            return validate(validate_json, {"result": plain_result(response)})["result"]
    except ValidationError as error:
        reason = (
            "the result is null" if response.is_null else summary(explain(_meant(method, response, error), 1), "result")
        )
    raise InvalidResponse(method.wire, reason)


def _meant(method: Request[Any, Any], response: IncomingResponse, error: ValidationError) -> ValidationError:
    """What is wrong with a result; of a union, with the member that was meant."""
    validate_python = _adapter(method).validator.validate_python
    frame: dict[str, Any] = {"result": {} if response.is_null else plain_result(response)}
    return narrow_json_error(lambda value: validate(lambda json: validate_python(from_json(json)), value), frame, error)


def plain_result(response: IncomingResponse) -> Any:
    """The result in a response to a call that the schema doesn't know, as plain JSON."""
    try:
        return from_json(response.line)["result"]
    except ValueError:
        return parse(response.line).value["result"]


def _is_syntax(error: ValidationError) -> bool:
    """Whether pydantic-core couldn't read the JSON. The decoder has, so it is text or depth that it doesn't take."""
    return error.error_count() == 1 and error.errors(include_input=False)[0]["type"] == "json_invalid"


def build_result(method: Request[Any, Any], json: bytes) -> Any:
    """A result out of JSON that is known to be one."""
    return _adapter(method).validator.validate_json(b'{"result":%b}' % json)["result"]


def is_result(method: Request[Any, Any], value: Any) -> bool:
    """Whether a handler returned what its method answers with."""
    leaves = _leaves(method)
    return not leaves or type(value) in leaves or isinstance(value, leaves)


def as_declared(method: Request[Any, Any], result: Any) -> Any:
    """A result as the class that its method declares, and of none of the subclasses of that."""
    leaves = _leaves(method)
    return AsDeclared(leaves)(result) if leaves and type(result) not in leaves else result


def can_be_empty(method: Request[Any, Any]) -> bool:
    """Whether a method's result can be empty."""
    leaves = _leaves(method)
    return bool(leaves) and not any(field.is_required() for leaf in leaves for field in leaf.model_fields.values())


@cache
def _leaves(method: Request[Any, Any]) -> tuple[type[BaseModel], ...]:
    """The models that a method's result can be; none if it can be any JSON."""
    return tuple(concrete_models(getattr(method.profile.models, method.result)))


@cache
def _adapter(method: Request[Any, Any]) -> TypeAdapter[Any]:
    with receiving():
        return TypeAdapter(Annotated[Any, _Answer(getattr(method.profile.models, method.result))])
