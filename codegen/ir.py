"""The intermediate representation (IR) of a schema, with every upstream idiom resolved.

Plain data. `codegen.read.normalise` makes the definitions, `codegen.read.methods` adds the methods, and the templates
render both. Types render themselves as Python annotations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

Json: TypeAlias = Any


@dataclass(frozen=True)
class Type:
    """A type as written in an annotation, without the markers for leniency that a field adds.

    Attributes:
        text: the Python expression.
        kind: its kind of JSON: `array`, `map`, `scalar`, `ref`, `union` or `any`.
        nullable: whether null is one of its values.
        names: the definitions it mentions.
        item: the item of an array.
        explicit_null: whether `None` has to be written; the alias that a reference names may include it already.
        plain: the expression in signatures where that differs: without constraints, with any sequence for a list.
    """

    text: str
    kind: str
    nullable: bool = False
    names: tuple[str, ...] = ()
    item: Type | None = None
    explicit_null: bool = True
    plain: str = ""

    @property
    def annotation(self) -> str:
        return f"{self.text} | None" if self.nullable and self.explicit_null else self.text

    @property
    def parameter(self) -> str:
        """The annotation of a keyword: callers may pass any sequence where the model holds a list."""
        text = f"Sequence[{self.item.parameter}]" if self.kind == "array" and self.item else self.plain or self.text
        return f"{text} | None" if self.nullable and self.explicit_null else text


@dataclass(frozen=True)
class Field:
    """A property of a model. `default` is Python source; None if the field is required or has no default."""

    wire: str
    name: str
    type: Type
    required: bool
    doc: str = ""
    markers: tuple[str, ...] = ()
    default: str | None = None
    default_json: Json = None
    has_default: bool = False
    tag: str | None = None

    @property
    def hint(self) -> str:
        """The type of the attribute."""
        may_be_none = self.default == "None" and not self.type.nullable
        return f"{self.type.annotation} | None" if may_be_none else self.type.annotation

    @property
    def annotation(self) -> str:
        markers = [self._marker(each) for each in self.markers]
        return f"Annotated[{', '.join((self.hint, *markers))}]" if markers else self.hint

    @property
    def assigned(self) -> str | None:
        """What the class assigns to the attribute; None if nothing."""
        if self.default is None or self.tag is not None:
            return self.default
        return f"absent({self.default.removeprefix('None')})"

    def _marker(self, name: str) -> str:
        """Return a marker by its name in this class: a required list falls back to an empty one."""
        return name.replace("DefaultOn", "EmptyOn") if self.required else name


@dataclass(frozen=True)
class Model:
    """An object: a class with its own fields and at most one base."""

    name: str
    pointer: str
    doc: str
    fields: tuple[Field, ...]
    base: str | None = None
    is_open: bool = False


@dataclass(frozen=True)
class Member:
    """A member of a union: the name of its class or alias, and the part that it adds to the name of the union."""

    name: str
    label: str
    tag: str | None = None


@dataclass(frozen=True)
class Union:
    """An alias for one of several objects. `tag` is the Python name of the field that tells them apart."""

    name: str
    pointer: str
    doc: str
    members: tuple[Member, ...]
    tag: str | None = None
    exclusive: bool = False

    @property
    def marker(self) -> str | None:
        if self.tag is not None:
            return f'ByTag("{self.tag}")'
        if len(self.members) == 1:
            return None
        return "ExactlyOne" if self.exclusive else "FirstMatch"


@dataclass(frozen=True)
class Alias:
    """A name for any other type: a scalar, an enum, a union of arrays, any JSON."""

    name: str
    pointer: str
    doc: str
    type: Type


Definition: TypeAlias = Model | Union | Alias


@dataclass(frozen=True)
class OldName:
    """An old name of a class or a union, which generated code keeps until a version of this package."""

    old: str
    new: str
    until: str


@dataclass(frozen=True)
class OldMethodName:
    """An old name of a method: on the wire, in Python, and in the method tables."""

    wire: str
    name: str
    constant: str
    until: str


@dataclass(frozen=True)
class Method:
    """A method of the protocol: one side, one kind.

    Attributes:
        wire: its name on the wire.
        name: its Python name, which the handler and the proxy's method have.
        constant: its name in the method tables.
        side: upstream's `x-side`, verbatim.
        handled_by: the roles that handle it, `agent` and/or `client`.
        params: the definition of its params.
        result: the definition of its result; None for a notification.
        capability: the path in the peer's `initialize` message that unlocks it; None if nothing does.
        doc: upstream's description of it.
        baseline: whether every peer implements it.
        content: parts of its params that need a capability of their own, each with the capability's path.
        offered: when a method that needs no capability may be called; empty for others.
        facts: other facts for the runtime, as keywords of its `Request` or `Notification`.
        entry: its whole entry in `methods.toml`, including facts about properties that this schema doesn't have.
        old_names: its old names, which generated code keeps.
    """

    wire: str
    name: str
    constant: str
    side: str
    handled_by: tuple[str, ...]
    params: str
    result: str | None
    doc: str
    capability: str | None = None
    baseline: bool = False
    content: tuple[tuple[str, str], ...] = ()
    offered: str = ""
    facts: tuple[tuple[str, Any], ...] = ()
    entry: dict[str, Any] = field(default_factory=dict[str, Any], compare=False)
    old_names: tuple[OldMethodName, ...] = ()


@dataclass
class Schema:
    """A whole schema.

    Attributes:
        definitions: in upstream's order.
        methods: in upstream's order.
        message_docs: upstream's descriptions of the messages at the schema's root, by subject.
        envelopes: the names of the definitions of whole messages.
        properties: the table `[<version>.properties]` of `methods.toml`.
        old_names: the old names of definitions, which generated code keeps.
    """

    definitions: dict[str, Definition]
    methods: list[Method] = field(default_factory=list[Method])
    message_docs: dict[str, str] = field(default_factory=dict[str, str])
    envelopes: set[str] = field(default_factory=set[str])
    properties: dict[str, str] = field(default_factory=dict[str, str])
    old_names: tuple[OldName, ...] = ()

    def model(self, name: str) -> Model:
        found = self.definitions[name]
        assert isinstance(found, Model)
        return found

    def fields(self, name: str) -> list[Field]:
        """Return all fields of a model, its base's first. A field defined again replaces its base's."""
        model = self.model(name)
        inherited = self.fields(model.base) if model.base else []
        own = {each.name: each for each in model.fields}
        return [own.pop(each.name, each) for each in inherited] + list(own.values())

    def bases(self, name: str) -> Iterator[str]:
        """Yield the models that a model derives from, the nearest first."""
        while base := self.model(name).base:
            yield base
            name = base

    def uses(self, name: str) -> Iterator[str]:
        """Yield what a definition consists of: its base and the types of its fields, its members, the type it names."""
        found = self.definitions[name]
        if isinstance(found, Union):
            yield from (member.name for member in found.members)
        elif isinstance(found, Alias):
            yield from found.type.names
        else:
            yield from (found.base,) if found.base else ()
            yield from (used for field in found.fields for used in field.type.names)

    def concrete_models(self, name: str) -> Iterator[Model]:
        """Yield the models that a definition stands for: itself, or every member of a union, nested ones included."""
        found = self.definitions[name]
        if isinstance(found, Model):
            yield found
        if isinstance(found, Union):
            for member in found.members:
                yield from self.concrete_models(member.name)

    def parameter_sets(self, method: Method) -> list[list[Field]]:
        """Return the keywords of a method's proxy, as one list of fields for each model that the params can be."""
        models = self.concrete_models(method.params)
        return [[self._as_parameter(field) for field in self.fields(model.name)] for model in models]

    def _as_parameter(self, field: Field) -> Field:
        """Return a field as a keyword. An alias of an array is written out, because a caller may pass any sequence."""
        found = self.definitions[field.type.text] if field.type.kind == "ref" else None
        if not isinstance(found, Alias) or "Sequence[" not in found.type.parameter:
            return field
        return replace(field, type=replace(found.type, nullable=field.type.nullable, explicit_null=True))


def with_fields(model: Model, *fields: Field) -> Model:
    return replace(model, fields=(*model.fields, *fields))
