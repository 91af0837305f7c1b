"""The intermediate representation (IR) of a schema: plain data, with every upstream idiom resolved.

`codegen.read.normalise` makes the definitions, `codegen.read.methods` makes the methods, `codegen.data.resolve` adds
the facts about methods, and the templates render all of them. `codegen.types` has the types of values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from codegen.escaping import python_literal
from codegen.facts import Cancelled, Effect, PlaceFact, write_value
from codegen.types import NULL, Type, union_of

Json: TypeAlias = Any

# The role at the other end of a connection.
OTHER_ROLE = {"agent": "client", "client": "agent"}


@dataclass(frozen=True)
class Field:
    """A property of a model.

    Attributes:
        default: the attribute's value if the property is missing, as JSON.
        has_default: whether the schema states the default.
        tag: the property's constant value, if it is the tag of a union member.
        factory: the source of a function that makes the default; empty if the default isn't mutable.
    """

    wire: str
    name: str
    type: Type
    required: bool
    doc: str = ""
    markers: tuple[str, ...] = ()
    default: Json = None
    has_default: bool = False
    tag: str | None = None
    factory: str = ""
    deprecated: bool = False

    @property
    def attribute_type(self) -> Type:
        """The type of the attribute."""
        may_be_none = not self.required and self.default is None and not self.type.nullable
        return union_of([self.type, NULL]) if may_be_none else self.type

    @property
    def has_plain_default(self) -> bool:
        return not self.required and not self.factory

    @property
    def assignment(self) -> str:
        """What the class assigns to the attribute; empty if nothing, or the plain default."""
        if self.tag is not None:
            return f"tag({python_literal(self.tag)})"
        return f"absent(default_factory={self.factory})" if self.factory else ""

    @property
    def is_other_tag(self) -> bool:
        """Whether it accepts every tag that the union doesn't list."""
        return any(marker.startswith("OtherThan") for marker in self.markers)

    @property
    def annotation_markers(self) -> str:
        """The markers as source. A required list has no default, so it falls back to an empty list."""
        text = ", ".join(self.markers)
        return text.replace("DefaultOn", "EmptyOn") if self.required else text

    @property
    def annotation(self) -> str:
        text = self.attribute_type.annotation
        return f"Annotated[{text}, {self.annotation_markers}]" if self.markers else text


def excluded_tags(marker: str) -> list[str]:
    """Return the tags that a marker of the open member of a union refuses."""
    arguments = marker.removeprefix("OtherThan").strip("()")
    return list(ast.literal_eval(f"[{arguments}]")) if arguments != marker else []


@dataclass(frozen=True)
class Model:
    """An object: a class with its own fields and at most one base."""

    name: str
    pointer: str
    doc: str
    fields: tuple[Field, ...]
    base: str | None = None
    is_open: bool = False
    deprecated: bool = False

    @property
    def accepts_other_tags(self) -> bool:
        """Whether it is the open member of a union: it accepts every tag that the union doesn't list."""
        return any(field.is_other_tag for field in self.fields)


@dataclass(frozen=True)
class Member:
    """A member of a union: the name of its class or alias, and the label that follows the union's name in that name.

    Attributes:
        doc: what the schema says about this member of the union, not about its definition.
        deprecated: whether this member is deprecated, not its definition.
    """

    name: str
    label: str
    tag: str | None = None
    doc: str = field(default="", compare=False)
    deprecated: bool = False


@dataclass(frozen=True)
class Union:
    """An alias for one of several objects.

    Attributes:
        tag: the Python name of the field that tells them apart; None if there is no such field.
        exclusive: whether exactly one member must match (`oneOf`).
        base: the union whose members its members derive from.
    """

    name: str
    pointer: str
    doc: str
    members: tuple[Member, ...]
    tag: str | None = None
    exclusive: bool = False
    base: str | None = None
    deprecated: bool = False

    @property
    def type(self) -> Type:
        return union_of(Type("ref", member.name) for member in self.members)

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
    deprecated: bool = False


Definition: TypeAlias = Model | Union | Alias


def is_inline(definition: Definition) -> bool:
    """Return whether a definition is an inline member of a union, which has no definition of its own in the schema."""
    return definition.pointer != f"/$defs/{definition.name}"


@dataclass(frozen=True)
class OldName:
    """The old name of a class or a union. Generated code keeps it until a version of this package."""

    old: str
    new: str
    until: str


@dataclass(frozen=True)
class Method:
    """A request or a notification of one side.

    Attributes:
        wire: its name on the wire.
        name: the Python name of its handler and of the proxy's method.
        constant: its name in the method tables.
        side: upstream's `x-side`, unchanged.
        handled_by: the roles that handle it: `agent`, `client` or both.
        params: the definition of its params.
        result: the definition of its result; None for a notification.
        doc: upstream's description.
        capability: the path in the peer's `initialize` message that unlocks it; None if no capability does.
        baseline: whether every peer implements it.
        params_facts: facts about places in its params.
        result_facts: facts about places in its result.
        offered: when a method without a capability may be called; empty for other methods.
        facts: other facts for the runtime, as keywords of its `Request` or `Notification`.
        entry: its entry in `methods.toml`, including facts about properties that this schema doesn't have.
        table: the table of the entry, such as `v1.agent`; empty if the entry is only proposed.
        missing: the names in the entry that this schema lacks, each after the entry's key that names it.
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
    params_facts: tuple[PlaceFact, ...] = ()
    result_facts: tuple[PlaceFact, ...] = ()
    offered: str = ""
    facts: dict[str, Any] = field(default_factory=dict[str, Any], hash=False)
    entry: dict[str, Any] = field(default_factory=dict[str, Any], compare=False)
    table: str = field(default="", compare=False)
    missing: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    deprecated: bool = False

    @property
    def kind(self) -> str:
        return "request" if self.result else "notification"

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies it among the methods of a schema: its side, its wire name and its kind."""
        return self.side, self.wire, self.kind

    @property
    def cancelled(self) -> Cancelled | None:
        """How it is cancelled with its session; None if it isn't."""
        return self.facts.get("cancelled")

    @property
    def fact_sources(self) -> dict[str, str]:
        """The Python code of the other facts."""
        return {name: write_value(value) for name, value in self.facts.items()}


@dataclass
class Schema:
    """A whole schema.

    Attributes:
        definitions: in upstream's order.
        methods: in upstream's order.
        envelopes: the names of the definitions of whole messages.
        properties: the table `[<version>.properties]` of `methods.toml`.
        old_names: the old names of definitions, which generated code keeps.
        places: the keys of `[<version>.places]`, and whether a message of this schema has the place; None if it need
            not have it.
        effects: what each kind of update does, by the kind.
        unlisted_kinds: the kinds of updates without an entry.
    """

    definitions: dict[str, Definition]
    methods: list[Method] = field(default_factory=list[Method])
    envelopes: set[str] = field(default_factory=set[str])
    properties: dict[str, str] = field(default_factory=dict[str, str])
    old_names: tuple[OldName, ...] = ()
    places: dict[str, bool | None] = field(default_factory=dict[str, bool | None])
    effects: dict[str, Effect] = field(default_factory=dict[str, Effect])
    unlisted_kinds: tuple[str, ...] = ()

    def model(self, name: str) -> Model:
        definition = self.definitions[name]
        assert isinstance(definition, Model)
        return definition

    def fields(self, name: str) -> list[Field]:
        """Return all fields of a model, its base's first. A field defined again replaces its base's."""
        model = self.model(name)
        inherited = self.fields(model.base) if model.base else []
        own = {field.name: field for field in model.fields}
        return [own.pop(field.name, field) for field in inherited] + list(own.values())

    def bases(self, name: str) -> Iterator[str]:
        """Yield the models that a model derives from, the nearest first."""
        while base := self.model(name).base:
            yield base
            name = base

    @property
    def payloads(self) -> set[str]:
        """The definitions that are the params or the result of a method."""
        return {name for method in self.methods for name in (method.params, method.result) if name}

    def own_doc(self, definition: Definition) -> str:
        """Return a definition's description; empty if it is the same as its base's."""
        base = definition.base if isinstance(definition, Model) else None
        return "" if base and self.definitions[base].doc == definition.doc else definition.doc.strip()

    def uses(self, name: str) -> Iterator[str]:
        """Yield the definitions that a definition refers to: as its base, in its fields, as its members or its type."""
        definition = self.definitions[name]
        if not isinstance(definition, Model):
            yield from definition.type.names
            return
        if definition.base:
            yield definition.base
        for own in definition.fields:
            yield from own.type.names

    def reachable(self, names: Iterable[str]) -> list[str]:
        """Return these definitions, and every definition that they refer to, directly or not."""
        reached: dict[str, None] = {}
        waiting = list(names)[::-1]
        while waiting:
            name = waiting.pop()
            if name in self.definitions and name not in reached:
                reached[name] = None
                waiting += list(self.uses(name))[::-1]
        return list(reached)

    def concrete_models(self, name: str) -> Iterator[Model]:
        """Yield a model itself, or all models of a union, including those of nested unions."""
        definition = self.definitions[name]
        if isinstance(definition, Model):
            yield definition
        if isinstance(definition, Union):
            for member in definition.members:
                yield from self.concrete_models(member.name)

    def parameter_sets(self, method: Method) -> list[list[Field]]:
        """Return the keywords of a method's proxy: one list of fields for each model that the params can be."""
        models = self.concrete_models(method.params)
        return [[self._as_parameter(field) for field in self.fields(model.name)] for model in models]

    def _as_parameter(self, field: Field) -> Field:
        """Return a field as a keyword. An alias of an array is expanded, because callers may pass any sequence."""
        definition = self.definitions.get(field.type.non_null.name)
        if not isinstance(definition, Alias) or "Sequence[" not in definition.type.parameter:
            return field
        return replace(field, type=union_of([definition.type, NULL]) if field.type.nullable else definition.type)
