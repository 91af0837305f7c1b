"""What is wrong with a value, said once and in words of the caller's code.

pydantic-core reports each thing that it tried: every member of a union, and that a value isn't absent. Of these, one
was meant. Knows the labels that unions of the runtime have in the path of an error, and what to write instead.
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

# Labels of an argument that may be absent, and of one for which null is absent.
OR_ABSENT: Final = "<absent>"
OR_VALUE: Final = "<value>"

_KNOWN: Final = frozenset[str](get_args(ErrorType))

_JSON = (str, int, float, list, type(None))


class UnionValidator:
    """What was meant by a value of a union.

    Args:
        name: the union's, by which the title of an error calls it.
        leaves: the models that its members can be.
        by_tag: the label of the members that have a tag, where there are others.
        tagged: whether members are told apart by a tag.
        only_models: whether all its members are models.

    Attributes:
        has_labels: whether paths of errors have labels of what was tried.
    """

    def __init__(
        self,
        name: str,
        leaves: Sequence[type[BaseModel]],
        *,
        by_tag: str | None = None,
        tagged: bool = False,
        only_models: bool = True,
    ) -> None:
        self.__name__: str = name
        self.leaves: tuple[Any, ...] = tuple(leaves)
        self.only_models = only_models
        self.has_labels: bool = not tagged or by_tag is not None
        self._by_tag = by_tag

    def __call__(self, value: Any, validate: Callable[[Any], Any]) -> Any:
        """An instance of a member as it is; anything else as JSON that is decoded."""
        if isinstance(value, self.leaves):
            return value
        if self.only_models and not isinstance(value, dict):
            if isinstance(value, _JSON):
                raise PydanticKnownError("dict_type")
            if isinstance(value, BaseModel):
                raise PydanticCustomError("wrong_model", cast("Any", wrong_instance_message(value, self.leaves)))
        try:
            return validate(value)
        except ValidationError as error:
            raise replace_errors(error, self._of_the_meant_member(error.errors(include_url=False))) from None

    def _of_the_meant_member(self, errors: Errors) -> Errors:
        if not self.has_labels:
            return errors
        tried: dict[Any, Errors] = defaultdict(list)
        for each in errors:
            tried[each["loc"][:1]].append(each)
        if self._by_tag is not None:
            of_tag = tried.pop((self._by_tag,), [])
            if any(len(each["loc"]) > 1 for each in of_tag):
                return _without_label(of_tag)
        return _without_label(_closest(list(tried.values())))


def narrow_json_error(validate: Callable[[Any], Any], decoded: Any, error: ValidationError) -> ValidationError:
    """An error of JSON without the members of unions that weren't meant.

    Args:
        validate: validates decoded JSON.
        decoded: the JSON.
        error: what is wrong with it, as it is said if the JSON is valid once it is decoded.
    """
    try:
        validate(decoded)
    except ValidationError as meant:
        return replace_errors(meant, meant.errors(include_url=False), "json")
    return error


def merge_errors(title: str, tried: Sequence[ValidationError]) -> ValidationError | None:
    """One error for several that are about the same values; None if they aren't."""
    lists = [error.errors(include_url=False) for error in tried]
    if len({tuple(each["loc"] for each in errors) for errors in lists}) > 1:
        return None
    together = [_any_of(list(each)) for each in zip(*lists, strict=True)]
    return ValidationError.from_exception_data(title, [_details(each) for each in together])


def _closest(tried: list[Errors]) -> Errors:
    """The errors of the member that a value is closest to, or one that says what all of them want."""
    nearer = [errors for errors in tried if any(len(each["loc"]) > 1 for each in errors)]
    if nearer:
        return min(nearer, key=lambda errors: (sum(each["type"] == "missing" for each in errors), len(errors)))
    return [_any_of([each for errors in tried for each in errors])]


def _any_of(errors: Errors) -> ErrorDetails:
    """One error that says what each of several wants of the same value."""
    first = errors[0]
    if all(each["type"] == first["type"] for each in errors):
        return first
    wanted = [each["msg"].removeprefix("Input should be ") for each in errors]
    return {**first, "type": "union", "msg": f"Input should be {one_of(wanted)}", "ctx": {}}


def _without_label(errors: Errors) -> Errors:
    return [cast("ErrorDetails", {**each, "loc": each["loc"][1:]}) for each in errors]


def replace_errors(error: ValidationError, errors: Errors, input_type: Any = "python") -> ValidationError:
    """A validation error that says something else."""
    return ValidationError.from_exception_data(error.title, [_details(each) for each in errors], input_type)


def _details(each: ErrorDetails) -> InitErrorDetails:
    context = each.get("ctx", {})
    known = each["type"] in _KNOWN
    kind = each["type"] if known else PydanticCustomError(cast("Any", each["type"]), cast("Any", each["msg"]), context)
    return {"type": kind, "loc": each["loc"], "input": each["input"], "ctx": context}
