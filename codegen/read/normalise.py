"""Turns the definitions of a schema into the intermediate representation.

Every definition becomes a model, a union or an alias. Upstream's JSON and Python differ most in unions: a member is an
inline object that adds a tag to a definition, and may wrap another union. Here each member becomes a class, named
`<Union><Tag>`, that derives from the definition it wraps.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from codegen.errors import SchemaError
from codegen.ir import Alias, Definition, Field, Member, Model, Schema, Union
from codegen.names import is_class_name, pascal
from codegen.nodes import REF_PREFIX, Node, is_array, is_object
from codegen.read.docs import add_member_docs, take_title_and_description
from codegen.read.properties import read_property
from codegen.read.types import is_class, read_type
from codegen.read.variants import Tag, Variant, find_constant, find_tag, read_variant, take_tag

# Names that the generated modules use already.
RESERVED = frozenset(
    {
        "Agent",
        "Annotated",
        "Any",
        "AnyMethod",
        "Base64",
        "BaseModel",
        "ByTag",
        "ClassVar",
        "Client",
        "DateTime",
        "DefaultOnError",
        "DefaultOnNull",
        "Double",
        "EmptyOnError",
        "EmptyOnNull",
        "Exact",
        "ExactlyOne",
        "Field",
        "Final",
        "FirstMatch",
        "Handler",
        "Int16",
        "Int32",
        "Int64",
        "Int8",
        "Integer",
        "Literal",
        "Mapping",
        "MethodNotFound",
        "Model",
        "NoTag",
        "NotNull",
        "Notification",
        "Number",
        "OpenModel",
        "OtherThan",
        "Profile",
        "Regex",
        "Remote",
        "RemoteAgent",
        "RemoteClient",
        "Request",
        "SchemaSource",
        "Sequence",
        "SkipInvalidItems",
        "TypeAlias",
        "Uint16",
        "Uint32",
        "Uint64",
        "Uint8",
        "Uri",
    }
)


def normalise(raw: dict[str, Any]) -> Schema:
    """Return all definitions, in upstream's order, but each after the definitions that it is made of."""
    reader = _Reader(raw)
    for name in raw:
        reader.resolve(name)
    return Schema(reader.done)


class _Reader:
    """Reads definitions by name, on demand, because a union needs the definitions that it wraps."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.done: dict[str, Definition] = {}
        self.in_progress: list[str] = []
        self.references = Counter(_find_references(raw))

    def resolve(self, name: str) -> Definition:
        if name in self.done:
            return self.done[name]
        pointer = f"/$defs/{name}"
        if name in self.in_progress:
            raise SchemaError(pointer, f"A definition can't be itself: {' is '.join([*self.in_progress, name])}.")
        if not is_class_name(name):
            raise SchemaError(
                pointer,
                f"{name!r} can't be the name of a class; expected a capital letter, then up to 199 letters and digits, "
                "and not a Python keyword.",
            )
        self.in_progress.append(name)
        definition = self._definition(name, Node(self.raw[name], pointer))
        self.in_progress.remove(name)
        definition = self.done.get(name) or self._add(definition)
        self.done[name] = replace(definition, deprecated="deprecated" in self.raw[name])
        return self.done[name]

    def _add(self, definition: Definition) -> Definition:
        if definition.name in RESERVED:
            raise SchemaError(definition.pointer, f"Generated code uses the name {definition.name} for something else.")
        if definition.name in self.done:
            raise SchemaError(
                definition.pointer, f"{definition.name} is already the name of {self.done[definition.name].pointer}."
            )
        if definition.pointer != f"/$defs/{definition.name}" and definition.name in self.raw:
            raise SchemaError(
                definition.pointer,
                f"The name of this union member, {definition.name}, is already the name of a definition.",
            )
        self.done[definition.name] = definition
        return definition

    def _definition(self, name: str, node: Node) -> Definition:
        doc = take_title_and_description(node)
        if node.take_flag("x-docs-ignore"):
            doc = f"{doc}\n\nA message envelope. Upstream's documentation omits it.".strip()
        for keyword in ("x-side", "x-method"):  # read by codegen.read.methods
            node.take(keyword, str, "")
        if is_class(self.raw, node.schema):
            variant = replace(read_variant(node, self.raw), doc=doc)
            return self._build(name, variant, {}, ())
        return self._alias(name, doc, node)

    def _alias(self, name: str, doc: str, node: Node) -> Alias:
        doc = add_member_docs(doc, node.schema)
        type_ = read_type(node, self.raw)
        node.close()
        # What leads back through an array or a map would have no name in Python.
        type_, whole = type_.with_any_inside(self.in_progress), type_
        if type_ != whole:
            doc = f"{doc}\n\nValues deeper inside may be any JSON; the bindings don't check this.".strip()
        for needed in type_.names:
            self.resolve(needed)
        return Alias(name, node.pointer, doc, type_)

    def _build(self, name: str, variant: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Definition:
        """Build the definition of an object, with the fields and the unread `common` properties that its union adds."""
        if variant.nested and variant.base:
            raise variant.node.error("There is no rule for an object that both wraps a definition and is a union.")
        built: Definition
        if variant.nested:
            built = self._union(name, variant, common, fields)
        elif variant.base:
            own = (*fields, *self._fields(variant, common))
            built = self._derive(name, variant.base, variant.node.pointer, variant.doc, own)
        else:
            built = Model(name, variant.node.pointer, variant.doc, (*fields, *self._fields(variant, common)))
        return self._open(built) if variant.is_open else built

    def _open(self, built: Definition) -> Definition:
        """Return a definition that keeps keys the schema doesn't know. Of a union, the members are changed."""
        for member in built.members if isinstance(built, Union) else ():
            self.done[member.name] = self._open(self.done[member.name])
        return replace(built, is_open=True) if isinstance(built, Model) else built

    def _fields(self, variant: Variant, common: dict[str, Node]) -> list[Field]:
        for key in common.keys() & variant.properties.keys():
            raise variant.properties[key].error(f"The property {key!r} is described here and for the whole union.")
        unread = {**common, **variant.properties}
        return [
            read_property(key, Node(node.schema, node.pointer), key in variant.required, self.raw)
            for key, node in unread.items()
        ]

    def _derive(self, name: str, base: str, pointer: str, doc: str, fields: tuple[Field, ...]) -> Definition:
        """Add fields to a definition: by a subclass, or for a union by a subclass of each member."""
        wrapped = self.resolve(base)
        if isinstance(wrapped, Union):
            members = tuple(self._derive_member(name, member, pointer, doc, fields) for member in wrapped.members)
            return Union(name, pointer, doc, members, wrapped.tag, wrapped.exclusive)
        if isinstance(wrapped, Alias):
            raise SchemaError(pointer, f"There is no rule for adding properties to {base}, which is not an object.")
        self._check_no_field_twice(wrapped, fields, pointer)
        return Model(name, pointer, doc, fields, base)

    def _derive_member(self, union: str, member: Member, pointer: str, doc: str, fields: tuple[Field, ...]) -> Member:
        derived = self._derive(union + member.label, member.name, pointer, doc, fields)
        return replace(member, name=self._add(derived).name)

    def _check_no_field_twice(self, base: Model, fields: tuple[Field, ...], pointer: str) -> None:
        inherited = {field.name for field in Schema({**self.done, base.name: base}).fields(base.name)}
        for field in fields:
            if field.name in inherited:
                raise SchemaError(
                    pointer, f"The property {field.wire!r} is described here and in {base.name}, which this wraps."
                )

    def _union(self, name: str, whole: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Union:
        """Build a union of objects. Its own properties, the `common` ones and the `fields` go into each member."""
        described = {**common, **whole.properties}
        tag = find_tag(whole, described)
        shared = {key: node for key, node in described.items() if key != tag.key}
        for key in whole.required - shared.keys() - {field.wire for field in fields}:
            raise whole.node.error(f"There is no rule for a tag ({key!r}) that the union itself requires.", "required")
        required = whole.required & shared.keys()
        nested = [replace(member, required=member.required | required) for member in whole.nested]
        members = tuple(self._member(name, member, tag, shared, fields) for member in nested)
        if whole.exclusive:
            self._check_exclusive(whole, tag, members)
        attribute = self._attribute(members) if tag.known else None
        exclusive = whole.exclusive and tag.key is None
        return Union(name, whole.node.pointer, _write_union_doc(whole, members), members, attribute, exclusive)

    def _check_exclusive(self, whole: Variant, tag: Tag, members: tuple[Member, ...]) -> None:
        if tag.key is not None and any(member.tag is None for member in members):
            raise whole.node.error("There is no rule for a tagged `oneOf` with a member that has no tag.", "oneOf")
        if tag.key is None and any(isinstance(self.done.get(member.name), Union) for member in members):
            raise whole.node.error("There is no rule for `oneOf` over unions.", "oneOf")

    def _attribute(self, members: tuple[Member, ...]) -> str:
        """Return the Python name of the tag, taken from a field that holds it."""
        schema = Schema(self.done)
        tags = {member.tag for member in members if member.tag is not None}
        tagged = [member.name for member in members if member.tag is not None]
        models = [model for name in tagged for model in schema.concrete_models(name)]
        return next(field.name for model in models for field in schema.fields(model.name) if field.tag in tags)

    def _member(
        self, union: str, member: Variant, tag: Tag, shared: dict[str, Node], fields: tuple[Field, ...]
    ) -> Member:
        value = find_constant(member, tag.key)
        if value is not None and member.title:
            raise member.node.error(
                "There is no rule for a title beside a tag, which names the member already.", "title"
            )
        label = pascal(value if value is not None else member.title)
        if not label or not is_class_name(union + label):
            raise member.node.error("Expected a short constant tag or a title, to name the union member by.")
        own, member = take_tag(member, tag, self.raw)
        adds_nothing = not (shared or fields or member.properties or member.nested)
        if member.base and adds_nothing and not own:
            self.resolve(member.base)
            return Member(member.base, label)
        if member.base and member.base == union + label and adds_nothing:
            return Member(self._tag_in_place(member.base, own, member.node), label, value)
        return Member(self._add(self._build(union + label, member, shared, (*fields, *own))).name, label, value)

    def _tag_in_place(self, name: str, own: tuple[Field, ...], node: Node) -> str:
        """Add the tag to the definition that a member wraps, because that definition has the member's name already."""
        definition = self.resolve(name)
        if self.references[name] != 1 or not isinstance(definition, Model):
            raise node.error(f"The tag belongs to {name}, which is used without the tag elsewhere.")
        self._check_no_field_twice(definition, own, node.pointer)
        self.done[name] = replace(definition, fields=(*definition.fields, *own))
        return name


def _write_union_doc(whole: Variant, members: tuple[Member, ...]) -> str:
    """Return a union's description, with those of members that have no class of their own."""
    plain = [
        (variant, member) for variant, member in zip(whole.nested, members, strict=True) if member.name == variant.base
    ]
    lines = [f"\n`{variant.title}`: {variant.doc}" for variant, member in plain if member.tag is None]
    return "\n".join([whole.doc, *lines]).strip()


def _find_references(schema: Any) -> list[str]:
    """Return the names of the definitions that a schema refers to, once for each reference."""
    names: list[str] = []
    unread = [schema]
    while unread:
        value = unread.pop()
        if is_object(value):
            if isinstance(value.get("$ref"), str):
                names.append(value["$ref"].removeprefix(REF_PREFIX))
            unread += value.values()
        elif is_array(value):
            unread += value
    return names
