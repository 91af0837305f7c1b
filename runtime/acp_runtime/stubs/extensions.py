"""Extension methods with typed params and results, which an application declares.

`ExtRequest` and `ExtNotification` are the declarations. `method_of` and `handled_method` make a `Request` or a
`Notification` of one, which a connection treats like a method of the schema. This module is loaded only by programs
that use it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Coroutine, Iterator, Mapping
from copy import copy
from functools import cache
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast, overload

from pydantic import AliasChoices, TypeAdapter
from pydantic.fields import FieldInfo

from acp_runtime.stubs.methods import AnyMethod, Notification, Profile, Request

P = TypeVar("P")
R = TypeVar("R")
HandlerT = TypeVar("HandlerT")

_MARK = "__acp_handles__"


class ExtNotification(Generic[P]):
    """A notification that the schema doesn't define. Declare it once, at the top of a module.

    Args:
        wire: its name on the wire, with the leading underscore that ACP reserves for extensions.
        params: the type of its params: a model, a dataclass or a TypedDict. Its JSON uses the aliases of its fields.
        capability: the path of the capability that unlocks it, such as `("_meta", "acme.dev", "log")`, in the
            capabilities of the peer that handles it; None if none does.
        unprefixed: allow a name without the leading underscore, for peers that use one.

    Raises:
        ValueError: if the name has no leading underscore, unless `unprefixed` allows it.
        TypeError: if `capability` is not a tuple of strings.
    """

    def __init__(
        self, wire: str, params: type[P], *, capability: tuple[str, ...] | None = None, unprefixed: bool = False
    ) -> None:
        self.wire: Final = _checked_name(wire, unprefixed=unprefixed)
        self.params: Final = params
        self.capability: Final = _checked_path(wire, capability)

    def __repr__(self) -> str:
        return f"ExtNotification({self.wire!r}, {type_name(self.params)})"


class ExtRequest(Generic[P, R]):
    """A request that the schema doesn't define. Declare it once, at the top of a module.

    Args:
        wire: its name on the wire, with the leading underscore that ACP reserves for extensions.
        params: the type of its params: a model, a dataclass or a TypedDict. Its JSON uses the aliases of its fields.
        result: the type of its result, likewise.
        capability: the path of the capability that unlocks it, such as `("_meta", "acme.dev", "ping")`, in the
            capabilities of the peer that handles it; None if none does.
        unprefixed: allow a name without the leading underscore, for peers that use one.

    Raises:
        ValueError: if the name has no leading underscore, unless `unprefixed` allows it.
        TypeError: if `capability` is not a tuple of strings.
    """

    def __init__(
        self,
        wire: str,
        params: type[P],
        result: type[R],
        *,
        capability: tuple[str, ...] | None = None,
        unprefixed: bool = False,
    ) -> None:
        self.wire: Final = _checked_name(wire, unprefixed=unprefixed)
        self.params: Final = params
        self.result: Final = result
        self.capability: Final = _checked_path(wire, capability)

    def __repr__(self) -> str:
        return f"ExtRequest({self.wire!r}, {type_name(self.params)}, {type_name(self.result)})"


Extension: TypeAlias = ExtRequest[Any, Any] | ExtNotification[Any]
Handled: TypeAlias = tuple[tuple[str, Extension], ...]
"""The extension methods that a class handles, each with the name of its method in Python."""


def is_request(value: object) -> bool:
    """Return whether a value is an extension request."""
    return isinstance(value, ExtRequest)


def is_notification(value: object) -> bool:
    """Return whether a value is an extension notification."""
    return isinstance(value, ExtNotification)


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

    The method takes the params. That of a request returns the result.
    """
    if not is_request(extension) and not is_notification(extension):
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
        for name, value in vars(base).items():
            own: Any = getattr(value, _MARK, None)
            if own is not None:
                marked[name] = own
    handled = tuple((name, extension) for name, extensions in marked.items() for extension in extensions)
    _check_handled(cls, handled, schema, hooks)
    return handled


def _check_handled(cls: type, handled: Handled, schema: Mapping[str, AnyMethod], hooks: Container[str]) -> None:
    wires = {method.wire for method in schema.values()}
    handlers: dict[tuple[type, str], tuple[str, Extension]] = {}
    for name, extension in handled:
        if extension.wire in wires:
            raise TypeError(
                f"{cls.__name__}.{name} can't handle {extension.wire!r}, because it is a method of the schema. "
                "Override the method of the base class instead."
            )
        if name in schema or name in hooks:
            purpose = repr(schema[name].wire) if name in schema else "other messages"
            raise TypeError(
                f"{cls.__name__}.{name} can't handle {extension.wire!r}, because it handles {purpose}. "
                "Give it another name."
            )
        other, declared = handlers.setdefault((type(extension), extension.wire), (name, extension))
        if other == name and declared is not extension:
            raise TypeError(f"{cls.__name__}.{name} handles two declarations of {extension.wire!r}. Keep one of them.")
        if other != name:
            raise TypeError(
                f"{cls.__name__} handles {extension.wire!r} twice, in {other} and in {name}. Remove one of them, or "
                "override the inherited one under its name."
            )


class ExtensionRequest(Request[P, R]):
    """The method of an `ExtRequest`, as a connection uses it."""

    def __init__(self, extension: ExtRequest[P, R], profile: Profile, name: str | None) -> None:
        super().__init__(
            profile,
            extension.wire,
            name or "",
            type_name(extension.params),
            "extension",
            result=type_name(extension.result),
            capability=extension.capability if name is None else None,
        )
        self.params_type = extension.params
        self.result_type = extension.result


class ExtensionNotification(Notification[P]):
    """The method of an `ExtNotification`, as a connection uses it."""

    def __init__(self, extension: ExtNotification[P], profile: Profile, name: str | None) -> None:
        super().__init__(
            profile,
            extension.wire,
            name or "",
            type_name(extension.params),
            "extension",
            capability=extension.capability if name is None else None,
        )
        self.params_type = extension.params


@overload
def method_of(extension: ExtRequest[P, R], profile: Profile) -> ExtensionRequest[P, R]: ...
@overload
def method_of(extension: ExtNotification[P], profile: Profile) -> ExtensionNotification[P]: ...
@overload
def method_of(extension: Extension, profile: Profile) -> ExtensionRequest[Any, Any] | ExtensionNotification[Any]: ...
def method_of(extension: Any, profile: Profile) -> Any:
    """Return the method of an extension, to call it.

    Raises:
        TypeError: if it is no extension.
    """
    if not is_request(extension) and not is_notification(extension):
        raise TypeError(f"Expected an ExtRequest or an ExtNotification, not {extension!r}.")
    return _method(extension, profile, None)


def handled_method(extension: Extension, profile: Profile, name: str) -> AnyMethod:
    """Return the method of an extension, to handle it by the method `name` of a handler.

    Raises:
        PydanticUserError: if pydantic doesn't support the type of its params or result.
    """
    # Built while the connection is made, not when the first message is received.
    TypeAdapter(extension.params).rebuild()
    if isinstance(extension, ExtRequest):
        TypeAdapter(extension.result).rebuild()
    method: AnyMethod = _method(extension, _with_session_of(extension.params, profile), name)
    return method


@cache
def _method(extension: Any, profile: Profile, name: str | None) -> Any:
    kind: Any = ExtensionRequest if isinstance(extension, ExtRequest) else ExtensionNotification
    return kind(extension, profile, name)


def type_name(declared: Any) -> str:
    """Return the name of a type, for messages."""
    return declared.__name__ if isinstance(declared, type) else str(declared)


def _checked_name(wire: str, *, unprefixed: bool) -> str:
    if not wire or not (unprefixed or wire.startswith("_")):
        raise ValueError(
            f"The name of an extension method begins with an underscore, {wire!r} doesn't. "
            "If the peer uses this name, pass unprefixed=True."
        )
    return wire


def _checked_path(wire: str, capability: object) -> tuple[str, ...] | None:
    if capability is None:
        return None
    steps = cast("tuple[object, ...]", capability) if isinstance(capability, tuple) else ()
    if not steps or not all(isinstance(step, str) for step in steps):
        raise TypeError(
            f"The capability of {wire!r} is a path in the peer's capabilities, a tuple of keys such as "
            f'("_meta", "acme.dev", "ping"), not {capability!r}.'
        )
    return cast("tuple[str, ...]", steps)


def _with_session_of(params: Any, profile: Profile) -> Profile:
    """Return the profile with the attribute or key of these params that is its `session` property on the wire."""
    attributes = dict(_properties(params))
    if not attributes:
        return profile
    own = copy(profile)
    own.session = own.session_attribute = attributes.get(profile.session, "")
    return own


def _properties(params: Any) -> Iterator[tuple[str, str]]:
    """Yield the properties of a model, a dataclass or a TypedDict, each with its attribute or key."""
    fields: Mapping[str, FieldInfo] | None = getattr(params, "__pydantic_fields__", None)
    if fields is None:
        yield from _properties_in(TypeAdapter(params).core_schema)
        return
    for name, field in fields.items():
        alias = field.validation_alias
        for each in alias.choices if isinstance(alias, AliasChoices) else (alias or field.alias or name,):
            if isinstance(each, str):
                yield each, name


def _properties_in(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield the same of pydantic's schema, the only place with all aliases of dataclasses and TypedDicts."""
    definitions = {each["ref"]: each for each in schema.get("definitions", ())}
    while "schema" in schema or schema["type"] == "definition-ref":
        schema = schema["schema"] if "schema" in schema else definitions[schema["schema_ref"]]
    fields: Any = schema.get("fields", ())
    # Those of a TypedDict are a dictionary, those of a dataclass a list.
    for name, field in fields.items() if schema["type"] == "typed-dict" else ((each["name"], each) for each in fields):
        alias: Any = field.get("validation_alias", name)
        paths: list[list[str]] = [[alias]] if isinstance(alias, str) else alias
        yield from ((path[0], name) for path in paths if len(path) == 1)
