"""From the definitions of a schema to the intermediate representation.

Every definition becomes a model, a union or an alias. Unions are where upstream's JSON and Python differ most:
a member is an inline object that adds a tag to a definition, and may wrap another union. Here each member gets a
class, named `<Union><Tag>`, that derives from what it wraps.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from codegen.errors import SchemaError
from codegen.ir import Alias, Definition, Field, Member, Model, Schema, Type, Union, with_fields
from codegen.names import is_class_name, pascal
from codegen.nodes import Node
from codegen.read.docs import with_member_docs
from codegen.read.properties import read_property
from codegen.read.raw import allows_null, is_class, references
from codegen.read.types import missing_definition, read_type
from codegen.read.variants import Tag, Variant, constant, find_tag, read_variant, take_tag

# Names that the generated modules use for other things.
RESERVED = frozenset(
    """
    Agent Annotated Any Base64 BaseModel ByTag ClassVar Client DateTime DefaultOnError DefaultOnNull Double ExactlyOne
    Field Final FirstMatch Handler Int16 Int32 Int64 Int8 Integer Literal Mapping MethodNotFound Model NoTag NotNull
    Notification Number OpenModel OtherThan Profile Regex Remote RemoteAgent RemoteClient Request SchemaSource Sequence
    SkipInvalidItems TypeAlias Uint16 Uint32 Uint64 Uint8 Uri
    """.split()  # noqa: SIM905
)


def normalise(raw: dict[str, Any]) -> Schema:
    """All definitions, in upstream's order, each after what it is made of."""
    reader = _Reader(raw)
    for name in raw:
        reader.resolve(name)
    return Schema(reader.done)


class _Reader:
    """Definitions by name, read on demand because unions are made of what they wrap."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.done: dict[str, Definition] = {}
        self.under_way: list[str] = []
        self.references = Counter(references(raw))

    def resolve(self, name: str) -> Definition:
        if name in self.done:
            return self.done[name]
        pointer = f"/$defs/{name}"
        if name in self.under_way:
            raise SchemaError(pointer, f"{' is '.join([*self.under_way, name])}: a definition can't be itself.")
        if not is_class_name(name):
            raise SchemaError(pointer, f"{name!r} can't be the name of a class.")
        self.under_way.append(name)
        found = self._definition(name, Node(self.raw[name], pointer))
        self.under_way.remove(name)
        return self.done.get(name) or self._add(found)

    def _add(self, found: Definition) -> Definition:
        if found.name in RESERVED:
            raise SchemaError(found.pointer, f"The generated code uses the name {found.name} for something else.")
        if found.name in self.done:
            raise SchemaError(found.pointer, f"{found.name} is already the name of {self.done[found.name].pointer}.")
        if found.pointer != f"/$defs/{found.name}" and found.name in self.raw:
            raise SchemaError(found.pointer, f"This union member's name, {found.name}, is already a definition's.")
        self.done[found.name] = found
        return found

    def lookup(self, name: str, node: Node) -> Type:
        """The type that a reference stands for. The definition itself may not have been read yet."""
        if name not in self.raw:
            raise missing_definition(name, node)
        return Type(name, "ref", allows_null(self.raw, name), (name,), explicit_null=False)

    def _definition(self, name: str, node: Node) -> Definition:
        if "title" in node:
            raise node.error("There is no rule for a definition with a title; its name is the key.", "title")
        doc = node.take("description", str, "")
        if node.take_flag("x-docs-ignore"):
            doc = f"{doc}\n\nThe wire's envelope; upstream leaves it out of its documentation.".strip()
        for keyword in ("x-side", "x-method"):  # read by codegen.read.methods
            node.take(keyword, str, "")
        if is_class(self.raw, node.schema):
            variant = replace(read_variant(node, self.raw), doc=doc)
            return self._build(name, variant, {}, ())
        return self._alias(name, doc, node)

    def _alias(self, name: str, doc: str, node: Node) -> Alias:
        doc = with_member_docs(doc, node.schema)
        kind = read_type(node, self.lookup)
        node.close()
        for needed in kind.names:
            self.resolve(needed)
        return Alias(name, node.pointer, doc, kind)

    def _build(self, name: str, variant: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Definition:
        """The definition that an object is, with the fields its union adds to it. `common` are unread ones."""
        built = self._closed(name, variant, common, fields)
        return self._opened(built) if variant.is_open else built

    def _closed(self, name: str, variant: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Definition:
        if variant.nested:
            if variant.base:
                raise variant.node.error("There is no rule for an object that both wraps a definition and is a union.")
            return self._union(name, variant, common, fields)
        fields = (*fields, *self._fields(variant, common))
        if variant.base:
            return self._derive(name, variant.base, variant.node.pointer, variant.doc, fields)
        return Model(name, variant.node.pointer, variant.doc, fields)

    def _opened(self, built: Definition) -> Definition:
        """A definition that has room for keys the schema doesn't know; of a union, its members."""
        for member in built.members if isinstance(built, Union) else ():
            self.done[member.name] = self._opened(self.done[member.name])
        return replace(built, is_open=True) if isinstance(built, Model) else built

    def _fields(self, variant: Variant, common: dict[str, Node]) -> list[Field]:
        for key in common.keys() & variant.properties.keys():
            raise variant.properties[key].error(f"{key!r} is described here and for the whole union.")
        unread = {**common, **variant.properties}
        return [
            read_property(key, Node(node.schema, node.pointer), key in variant.required, self.lookup)
            for key, node in unread.items()
        ]

    def _derive(self, name: str, base: str, pointer: str, doc: str, fields: tuple[Field, ...]) -> Definition:
        """A definition plus fields: a subclass, or for a union the union of its members' subclasses."""
        found = self.resolve(base)
        if isinstance(found, Union):
            members = tuple(self._derive_member(name, each, pointer, doc, fields) for each in found.members)
            return Union(name, pointer, doc, members, found.tag, found.exclusive)
        if isinstance(found, Alias):
            raise SchemaError(pointer, f"{base} is not an object, so nothing can be added to it.")
        self._check_no_field_twice(found, fields, pointer)
        return Model(name, pointer, doc, fields, base)

    def _derive_member(self, union: str, each: Member, pointer: str, doc: str, fields: tuple[Field, ...]) -> Member:
        derived = self._derive(union + each.label, each.name, pointer, doc, fields)
        return replace(each, name=self._add(derived).name)

    def _check_no_field_twice(self, base: Model, fields: tuple[Field, ...], pointer: str) -> None:
        inherited = {field.name for field in Schema({**self.done, base.name: base}).fields(base.name)}
        for field in fields:
            if field.name in inherited:
                raise SchemaError(pointer, f"{field.wire!r} is defined here and in {base.name}, which this wraps.")

    def _union(self, name: str, whole: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Union:
        """A union of objects. Its own properties, the `common` ones and the fields go into each member."""
        shared = {**common, **whole.properties}
        tag = find_tag(whole, shared)
        for key in whole.required - shared.keys() - {field.wire for field in fields}:
            raise whole.node.error(f"There is no rule for a tag ({key!r}) that the union itself requires.", "required")
        for each in whole.nested:
            each.required |= whole.required & shared.keys()
        members = tuple(self._member(name, each, tag, shared, fields) for each in whole.nested)
        if whole.exclusive:
            self._check_exclusive(whole, tag, members)
        attribute = self._attribute(members) if tag.known else None
        exclusive = whole.exclusive and tag.key is None
        return Union(name, whole.node.pointer, _union_doc(whole, members), members, attribute, exclusive)

    def _check_exclusive(self, whole: Variant, tag: Tag, members: tuple[Member, ...]) -> None:
        if tag.key is not None and any(each.tag is None for each in members):
            raise whole.node.error("There is no rule for `oneOf` with a member that has no constant tag.", "oneOf")
        if tag.key is None and any(isinstance(self.done.get(each.name), Union) for each in members):
            raise whole.node.error("There is no rule for `oneOf` over unions.", "oneOf")

    def _attribute(self, members: tuple[Member, ...]) -> str:
        """The Python name of the tag, from a field that holds it."""
        schema = Schema(self.done)
        tags = {member.tag for member in members if member.tag is not None}
        leaves = [leaf for member in members if member.tag is not None for leaf in schema.concrete_models(member.name)]
        return next(field.name for leaf in leaves for field in schema.fields(leaf.name) if field.tag in tags)

    def _member(
        self, union: str, each: Variant, tag: Tag, shared: dict[str, Node], fields: tuple[Field, ...]
    ) -> Member:
        value = constant(each, tag.key)
        if value is not None and each.title:
            raise each.node.error("A member with a constant tag is named by it; there is no rule for a title.", "title")
        label = pascal(value if value is not None else each.title)
        if not label:
            raise each.node.error("A union member needs a constant tag or a title to be named by.")
        own = take_tag(each, tag, self.lookup)
        adds_nothing = not (shared or fields or each.properties or each.nested)
        if each.base and adds_nothing and not own:
            self.resolve(each.base)
            return Member(each.base, label)
        if each.base and each.base == union + label and adds_nothing:
            return Member(self._tag_in_place(each.base, own, each.node), label, value)
        return Member(self._add(self._build(union + label, each, shared, (*fields, *own))).name, label, value)

    def _tag_in_place(self, name: str, own: tuple[Field, ...], node: Node) -> str:
        """Put the tag into the definition that a member wraps, because the member's name is already that definition."""
        found = self.resolve(name)
        if self.references[name] != 1 or not isinstance(found, Model):
            raise node.error(f"The tag would go into {name}, which is used without the tag elsewhere.")
        self._check_no_field_twice(found, own, node.pointer)
        self.done[name] = with_fields(found, *own)
        return name


def _union_doc(whole: Variant, members: tuple[Member, ...]) -> str:
    """A union's description, and those of its members that have no class of their own to say it."""
    plain = [(each, member) for each, member in zip(whole.nested, members, strict=True) if member.name == each.base]
    lines = [f"\n`{each.title}`: {each.doc}" for each, member in plain if member.tag is None]
    return "\n".join([whole.doc, *lines]).strip()
