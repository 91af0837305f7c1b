"""Extension methods with typed params and results, which an application declares.

`ExtRequest` and `ExtNotification` are methods of a connection like those of the schema. Their params and results are
pydantic models of the application.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Coroutine, Mapping
from copy import copy
from typing import Any, TypeAlias, TypeVar, cast, overload

from pydantic import AliasChoices, BaseModel

from acp_runtime.stubs.methods import AnyMethod, Notification, Profile, R_co, Request

P = TypeVar("P")
R = TypeVar("R")
ParamsT = TypeVar("ParamsT", bound=BaseModel)
ResultT = TypeVar("ResultT", bound=BaseModel)
HandlerT = TypeVar("HandlerT")

_MARK = "__acp_handles__"


class ExtNotification(Notification[P]):
    """A notification that the schema doesn't define. Declare it once, at the top of a module.

    Args:
        wire: its name on the wire, with the leading underscore that ACP reserves for extensions.
        params: the model of its params. Its JSON uses the aliases of its fields.
        capability: the path of the capability that unlocks it, such as `("_meta", "acme.dev", "log")`, in the
            capabilities of the peer that handles it; None if none does.
        unprefixed: allow a name without the leading underscore, for peers that use one.

    Raises:
        ValueError: if the name has no leading underscore, unless `unprefixed` allows it.
        TypeError: if `params` is not a pydantic model, or `capability` is not a tuple of strings.
    """

    def __init__(
        self: ExtNotification[ParamsT],
        wire: str,
        params: type[ParamsT],
        *,
        capability: tuple[str, ...] | None = None,
        unprefixed: bool = False,
    ) -> None:
        vars(self).update(_facts(wire, capability, unprefixed, params=params))


class ExtRequest(Request[P, R_co]):
    """A request that the schema doesn't define. Declare it once, at the top of a module.

    Args:
        wire: its name on the wire, with the leading underscore that ACP reserves for extensions.
        params: the model of its params. Its JSON uses the aliases of its fields.
        result: the model of its result, likewise.
        capability: the path of the capability that unlocks it, such as `("_meta", "acme.dev", "ping")`, in the
            capabilities of the peer that handles it; None if none does.
        unprefixed: allow a name without the leading underscore, for peers that use one.

    Raises:
        ValueError: if the name has no leading underscore, unless `unprefixed` allows it.
        TypeError: if `params` or `result` is not a pydantic model, or `capability` is not a tuple of strings.
    """

    def __init__(
        self: ExtRequest[ParamsT, ResultT],
        wire: str,
        params: type[ParamsT],
        result: type[ResultT],
        *,
        capability: tuple[str, ...] | None = None,
        unprefixed: bool = False,
    ) -> None:
        vars(self).update(_facts(wire, capability, unprefixed, params=params, result=result))


Extension: TypeAlias = ExtRequest[Any, Any] | ExtNotification[Any]
Handled: TypeAlias = tuple[tuple[str, Extension], ...]
"""The extension methods that a class handles, each with the name of its method in Python."""


def _facts(wire: str, capability: Any, unprefixed: bool, **models: Any) -> dict[str, Any]:
    if not wire or not (unprefixed or wire.startswith("_")):
        raise ValueError(
            f"The name of an extension method begins with an underscore, {wire!r} doesn't. "
            "If the peer uses this name, pass unprefixed=True."
        )
    steps = cast("tuple[object, ...]", capability) if isinstance(capability, tuple) else ()
    if capability is not None and not (steps and all(isinstance(step, str) for step in steps)):
        raise TypeError(
            f"The capability of {wire!r} is a path in the peer's capabilities, a tuple of keys such as "
            f'("_meta", "acme.dev", "ping"), not {capability!r}.'
        )
    facts: dict[str, Any] = {"wire": wire, "name": "", "side": "extension", "capability": capability}
    for part, model in models.items():
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise TypeError(
                f"The {part} of {wire!r} must be a pydantic model, such as a subclass of acp_runtime.Model, "
                f"not {model!r}. For plain JSON, use ext_request or ext_notification."
            )
        facts |= {part: model.__name__, f"{part}_type": model}
    return facts


@overload
def handles(
    extension: ExtRequest[P, R], /
) -> Callable[[Callable[[HandlerT, P], Coroutine[Any, Any, R]]], Callable[[HandlerT, P], Coroutine[Any, Any, R]]]: ...
@overload
def handles(
    extension: ExtNotification[P], /
) -> Callable[
    [Callable[[HandlerT, P], Coroutine[Any, Any, None]]], Callable[[HandlerT, P], Coroutine[Any, Any, None]]
]: ...
def handles(extension: Any, /) -> Any:
    """Mark a method of a handler class: it handles this extension method, and so do its overrides in subclasses.

    The method takes the params and, for a request, returns the result.
    """
    if not isinstance(extension, (ExtRequest, ExtNotification)):
        raise TypeError(
            f"@handles takes an ExtRequest or an ExtNotification, not {extension!r}. "
            "Methods of the schema are handled by overriding their method."
        )

    def mark(function: Any) -> Any:
        if not callable(function):
            raise TypeError(f"@handles({extension.wire!r}) marks methods, not a {type(function).__name__}.")
        setattr(function, _MARK, (*getattr(function, _MARK, ()), extension))
        return function

    return mark


def find_handled(cls: type, schema: Mapping[str, AnyMethod], hooks: Container[str]) -> Handled:
    """Return the extension methods that a class handles.

    Args:
        cls: the class, with the marks of its bases.
        schema: the methods of the schema that it handles, by the names of their methods in Python.
        hooks: the names of its methods for other messages.

    Raises:
        TypeError: if two methods handle the same one, if the schema has it, too, or if its method has another purpose.
    """
    marked: dict[str, tuple[Extension, ...]] = {}
    for base in reversed(cls.__mro__):
        marked.update({name: getattr(value, _MARK) for name, value in vars(base).items() if hasattr(value, _MARK)})
    handled = tuple((name, extension) for name, extensions in marked.items() for extension in extensions)
    wires = {method.wire for method in schema.values()}
    first_of: dict[tuple[type, str], tuple[str, Extension]] = {}
    for name, extension in handled:
        first = first_of.setdefault((type(extension), extension.wire), (name, extension))
        if extension.wire in wires:
            reason = "it is a method of the schema. Override the method of the base class instead."
        elif name in schema or name in hooks:
            reason = "it handles other messages. Give it another name."
        elif first != (name, extension):
            reason = f"{first[0]} handles a declaration of this name already. Keep one of them, under one name."
        else:
            continue
        raise TypeError(f"{cls.__name__}.{name} can't handle {extension.wire!r}, because {reason}")
    return handled


def handled_method(extension: Extension, profile: Profile, name: str) -> Extension:
    """Return the method of an extension that the method `name` of a handler handles, in a profile."""
    method, method.profile = copy(extension), copy(profile)
    method.profile.session_attribute = _session_attribute(method.params_type, profile.session)
    method.name, method.capability = name, None  # the side that handles it advertises the capability itself
    return method


def _session_attribute(model: type[BaseModel], session: str) -> str:
    """Return the attribute for the property with the session; "" if the model has no such property."""
    for name, field in model.model_fields.items():
        alias = field.validation_alias or name
        if session in (alias.choices if isinstance(alias, AliasChoices) else (alias,)):
            return name
    return ""
