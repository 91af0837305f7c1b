"""The signatures of model classes: a keyword for each field, by the name of its attribute.

The signatures that pydantic makes show JSON keys, which these constructors don't take.
"""

from __future__ import annotations

from inspect import Parameter, Signature, signature
from typing import Any

from pydantic.fields import FieldInfo

from acp_runtime.models.union_members import tag_of


class ModelSignature:
    """The attribute `__signature__` of a class."""

    def __get__(self, instance: Any, cls: Any = None) -> Signature:
        if instance is not None:
            raise AttributeError("__signature__")
        return signature_of(cls)


def signature_of(cls: Any) -> Signature:
    """Return the signature of a constructor: the parameters of `__init__`, with the fields in place of `**data`."""
    own = list(signature(cls.__init__).parameters.values())[1:]
    named = {parameter.name: parameter for parameter in own if parameter.kind is not Parameter.VAR_KEYWORD}
    if len(named) < len(own):
        named = {name: _parameter(name, field) for name, field in cls.__pydantic_fields__.items()} | named
        if cls.__acp_unknown__ == "allow":
            named["extra_data"] = own[-1].replace(name="extra_data")
    return Signature(sorted(named.values(), key=lambda parameter: parameter.kind), return_annotation=None)


def _parameter(name: str, field: FieldInfo) -> Parameter:
    default = Parameter.empty if field.is_required() else ... if field.default_factory else field.default
    annotation = field.rebuild_annotation()
    return Parameter(name, Parameter.KEYWORD_ONLY, default=tag_of(field) or default, annotation=annotation)
