"""Reduces pydantic's errors to the alternative that the caller intended.

pydantic-core reports every alternative that it tried: each member of a union, and that a value isn't absent. The errors
here name each mistake once, without the labels that mark alternatives in the path of an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, PydanticKnownError
from pydantic_core.core_schema import ErrorType

from acp_runtime.models.hints import wrong_instance_message
from acp_runtime.models.words import one_of

Errors: TypeAlias = list[ErrorDetails]

# The labels of the two alternatives for an argument that may be absent, or null instead of absent.
OR_ABSENT: Final = "<absent>"
OR_VALUE: Final = "<value>"

_PYDANTIC_TYPES: Final = frozenset[str](get_args(ErrorType))

_JSON = (str, int, float, list, type(None))


class UnionValidator:
    """Validates Python values of a union, and reports only errors of the intended member.

    Args:
        name: the name of the union, for the title of errors.
        models: the model classes of its members.
        by_tag: the label of the members with a tag, if there are others.
        tagged: whether members are told apart by a tag.
        only_models: whether all its members are models.

    Attributes:
        has_labels: whether paths of errors contain labels of alternatives.
    """

    def __init__(
        self,
        name: str,
        models: Sequence[type[BaseModel]],
        *,
        by_tag: str | None = None,
        tagged: bool = False,
        only_models: bool = True,
    ) -> None:
        self.__name__: str = name
        self.models: tuple[Any, ...] = tuple(models)
        self.only_models = only_models
        self.has_labels: bool = not tagged or by_tag is not None
        self._by_tag = by_tag

    def __call__(self, value: Any, validate: Callable[[Any], Any]) -> Any:
        """Return an instance of a member unchanged, and validate any other value as decoded JSON."""
        if isinstance(value, self.models):
            return value
        if self.only_models and not isinstance(value, dict):
            if isinstance(value, _JSON):
                raise PydanticKnownError("dict_type")
            if isinstance(value, BaseModel):
                raise PydanticCustomError("wrong_model", cast("Any", wrong_instance_message(value, self.models)))
        try:
            return validate(value)
        except ValidationError as error:
            raise replace_errors(error, self._errors_of_intended_member(error.errors(include_url=False))) from None

    def _errors_of_intended_member(self, errors: Errors) -> Errors:
        if not self.has_labels:
            return errors
        tried: dict[Any, Errors] = defaultdict(list)
        for each in errors:
            tried[each["loc"][:1]].append(each)
        if self._by_tag is not None:
            of_tagged = tried.pop((self._by_tag,), [])
            if any(len(each["loc"]) > 1 for each in of_tagged):
                return _without_label(of_tagged)
        return _without_label(_closest(list(tried.values())))


def narrow_json_error(validate: Callable[[Any], Any], decoded: Any, error: ValidationError) -> ValidationError:
    """Return the error of invalid JSON without union members that weren't intended.

    Args:
        validate: validates decoded JSON, and reports errors of the intended members alone.
        decoded: the decoded JSON.
        error: the error of the JSON text. It is returned if the decoded JSON is valid.
    """
    try:
        validate(decoded)
    except ValidationError as narrowed:
        return replace_errors(narrowed, narrowed.errors(include_url=False), "json")
    return error


def merge_errors(title: str, tried: Sequence[ValidationError]) -> ValidationError | None:
    """Merge errors about the same values into one; return None if they are about different ones."""
    lists = [error.errors(include_url=False) for error in tried]
    if len({tuple(each["loc"] for each in errors) for errors in lists}) > 1:
        return None
    merged = [_any_of(list(each)) for each in zip(*lists, strict=True)]
    return ValidationError.from_exception_data(title, [_details(each) for each in merged])


def _closest(tried: list[Errors]) -> Errors:
    """Return the errors of the member that a value is closest to, or one error that lists what all members expect."""
    close = [errors for errors in tried if any(len(each["loc"]) > 1 for each in errors)]
    if close:
        return min(close, key=lambda errors: (sum(each["type"] == "missing" for each in errors), len(errors)))
    return [_any_of([each for errors in tried for each in errors])]


def _any_of(errors: Errors) -> ErrorDetails:
    """Merge several errors about one value into an error that lists what each expects."""
    first = errors[0]
    if all(each["type"] == first["type"] for each in errors):
        return first
    expected = [each["msg"].removeprefix("Input should be ") for each in errors]
    return {**first, "type": "union", "msg": f"Input should be {one_of(expected)}", "ctx": {}}


def _without_label(errors: Errors) -> Errors:
    return [cast("ErrorDetails", {**each, "loc": each["loc"][1:]}) for each in errors]


def replace_errors(error: ValidationError, errors: Errors, input_type: Any = "python") -> ValidationError:
    """Return a validation error with other errors and the same title."""
    return ValidationError.from_exception_data(error.title, [_details(each) for each in errors], input_type)


def _details(each: ErrorDetails) -> InitErrorDetails:
    context = each.get("ctx", {})
    known = each["type"] in _PYDANTIC_TYPES
    kind = each["type"] if known else PydanticCustomError(cast("Any", each["type"]), cast("Any", each["msg"]), context)
    return {"type": kind, "loc": each["loc"], "input": each["input"], "ctx": context}
