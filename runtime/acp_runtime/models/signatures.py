"""The signatures of model classes: a keyword for each field, by the name of its attribute.

pydantic sets a signature only when a class is complete, and uses JSON keys, which constructors don't take.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter, Signature, signature
from typing import Any

from pydantic.fields import FieldInfo

from acp_runtime.models.absent import ABSENT
from acp_runtime.models.argument_types import argument_type
from acp_runtime.models.tags import tag_of


class SignatureOfModel:
    """The attribute `__signature__` of a metaclass. A class can set a signature of its own in its class statement."""

    def __get__(self, cls: type | None, owner: Any = None) -> Signature:
        if cls is None:
            raise AttributeError("__signature__")
        own = vars(cls).get("__signature__")
        return own if isinstance(own, Signature) else signature_of(cls)

    def __set__(self, cls: Any, value: Any) -> None:
        """Ignore the signature that pydantic sets when the class is complete."""


def signature_of(cls: Any) -> Signature:
    """Return the signature of a constructor: the parameters of `__init__`, with the fields in place of `**keywords`."""
    parameters = list(signature(cls.__init__).parameters.values())[1:]
    named = [each for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
    if len(named) < len(parameters):
        names = {each.name for each in named}
        named += [each for each in _parameters_of_fields(cls) if each.name not in names]
        named += [_extra_keywords({each.name for each in named})] if cls.__acp_open__ else []
    return Signature(named, return_annotation=None)


def _extra_keywords(names: set[str]) -> Parameter:
    """Return the parameter for keywords that aren't fields. Its name is different from all others."""
    name = "extra_data"
    while name in names:
        name += "_"
    return Parameter(name, Parameter.VAR_KEYWORD, annotation=Any)


def _parameters_of_fields(cls: Any) -> Iterator[Parameter]:
    for name, field in cls.__pydantic_fields__.items():
        if field.init is not False and name.isidentifier():
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=_default(field), annotation=argument_type(field))


def _default(field: FieldInfo) -> Any:
    if (tag := tag_of(field)) is not None:
        return tag
    if field.is_required():
        return Parameter.empty
    return field.default if field.default_factory is None else ABSENT
