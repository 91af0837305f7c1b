"""Turns the definitions of a schema into the intermediate representation.

Every definition becomes a model, a union or an alias. Unions need the most work: upstream's members are inline objects
that add a tag to a definition, and may wrap another union. Each member becomes a class named `<Union><Tag>`, which
derives from the definition that it wraps.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from codegen.chosen_names import FILE as NAMES, read_chosen_names, suggest_entry
from codegen.errors import REPORT, SchemaError
from codegen.ir import Alias, Definition, Field, Member, Model, Schema, Union, is_inline
from codegen.names import is_class_name, pascal
from codegen.nodes import REF_PREFIX, Node, is_array, is_object
from codegen.read.docs import add_member_docs, take_title_and_description
from codegen.read.properties import read_forbidden, read_property
from codegen.read.types import is_class, read_type
from codegen.read.variants import Tag, Variant, find_constant, find_tag, read_variant, take_tag

# Names that generated modules use for something else.
RESERVED = frozenset(
    {
        "ABSENT",
        "Absolute",
        "Accepted",
        "Agent",
        "Annotated",
        "Any",
        "Base64",
        "BaseModel",
        "ByTag",
        "Cancelled",
        "ClassVar",
        "Client",
        "DateTime",
        "DefaultOnError",
        "DefaultOnNull",
        "Double",
        "EmptyOnError",
        "EmptyOnMissing",
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
        "Needs",
        "NoTag",
        "NotNull",
        "Notification",
        "Number",
        "OpenModel",
        "OtherThan",
        "PROFILE",
        "Profile",
        "Regex",
        "Remote",
        "RemoteAgent",
        "RemoteClient",
        "Request",
        "SCHEMA",
        "SchemaSource",
        "Sequence",
        "SkipInvalidItems",
        "TypeAlias",
        "Uint16",
        "Uint32",
        "Uint64",
        "Uint8",
        "Unsupported",
        "Uri",
    }
)


def normalise(raw: dict[str, Any]) -> Schema:
    """Return all definitions in upstream's order, except that definitions come after those that they refer to."""
    reader = _Reader(raw)
    for name in raw:
        reader.resolve(name)
    return Schema(reader.definitions)


class _Reader:
    """Reads definitions on demand, because a union needs the definitions that it wraps."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.definitions: dict[str, Definition] = {}
        self.in_progress: list[str] = []
        self.references = Counter(_find_references(raw))

    def resolve(self, name: str) -> Definition:
        if name in self.definitions:
            return self.definitions[name]
        pointer = f"/$defs/{name}"
        if name in self.in_progress:
            message = f"A definition can't be itself: {' is '.join([*self.in_progress, name])}."
            raise SchemaError(pointer, message, next_step=REPORT)
        if not is_class_name(name):
            raise SchemaError(
                pointer,
                f"{name!r} can't be the name of a class; expected a capital letter, then up to 199 letters and digits, "
                "and not a Python keyword.",
                next_step=suggest_entry("classes", name, pascal(f"{name} type")),
            )
        self.in_progress.append(name)
        definition = self._read_definition(name, Node(self.raw[name], pointer))
        self.in_progress.remove(name)
        if name not in self.definitions:
            self._add(definition)
        self.definitions[name] = replace(self.definitions[name], deprecated="deprecated" in self.raw[name])
        return self.definitions[name]

    def _add(self, definition: Definition, key: str = "") -> Definition:
        """Add a definition. `key` is the name of a union member in `names.toml`."""
        if definition.name in RESERVED:
            message = f"Generated code uses the name {definition.name} for something else."
            raise SchemaError(definition.pointer, message, next_step=_suggest_class(definition.name, definition.name))
        if definition.name in self.definitions:
            raise SchemaError(
                definition.pointer,
                f"{definition.name} is already the name of {self.definitions[definition.name].pointer}.",
                next_step=_suggest_class(key or definition.name, definition.name),
            )
        if is_inline(definition) and definition.name in self.raw:
            raise SchemaError(
                definition.pointer,
                f"The name of this union member, {definition.name}, is already the name of a definition.",
                next_step=_suggest_class(key or definition.name, definition.name),
            )
        self.definitions[definition.name] = definition
        return definition

    def _read_definition(self, name: str, node: Node) -> Definition:
        doc = take_title_and_description(node)
        if node.take_flag("x-docs-ignore"):
            doc = f"{doc}\n\nA message envelope. Upstream's documentation omits it.".strip()
        for keyword in ("x-side", "x-method"):  # read by codegen.read.methods
            node.take(keyword, str, "")
        if is_class(self.raw, node.schema):
            variant = replace(read_variant(node, self.raw), doc=doc)
            return self._build(name, variant, {}, ())
        return self._read_alias(name, doc, node)

    def _read_alias(self, name: str, doc: str, node: Node) -> Alias:
        doc = add_member_docs(doc, node.schema)
        type_ = read_type(node, self.raw)
        node.close()
        # An alias can't refer to itself in Python, so the inner type becomes any JSON.
        finite = type_.with_any_inside(self.in_progress)
        if finite != type_:
            doc = f"{doc}\n\nValues deeper inside may be any JSON; the bindings don't check this.".strip()
        for used in finite.names:
            self.resolve(used)
        return Alias(name, node.pointer, doc, finite)

    def _build(self, name: str, variant: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Definition:
        """Build the definition of an object. Its union adds `fields` and the unread properties `common`."""
        if variant.nested and variant.base:
            raise variant.node.error("There is no rule for an object that both wraps a definition and is a union.")
        definition: Definition
        if variant.nested:
            definition = self._build_union(name, variant, common, fields)
        else:
            all_fields = (*fields, *self._read_fields(variant, common))
            if variant.base:
                definition = self._derive(name, variant.base, variant.node.pointer, variant.doc, all_fields)
            else:
                definition = Model(name, variant.node.pointer, variant.doc, all_fields)
        return self._mark_open(definition) if variant.is_open else definition

    def _mark_open(self, definition: Definition) -> Definition:
        """Return a model that is marked as open. For a union, mark the models of all members."""
        if isinstance(definition, Union):
            for member in definition.members:
                self.definitions[member.name] = self._mark_open(self.definitions[member.name])
        return replace(definition, is_open=True) if isinstance(definition, Model) else definition

    def _read_fields(self, variant: Variant, common: dict[str, Node]) -> list[Field]:
        for key in common.keys() & variant.properties.keys():
            raise variant.properties[key].error(f"The property {key!r} is described here and for the whole union.")
        unread = {**common, **variant.properties}
        fields = [
            *(
                read_property(key, Node(node.schema, node.pointer), key in variant.required, self.raw)
                for key, node in unread.items()
            ),
            *(read_forbidden(key, variant.node) for key in variant.forbidden),
        ]
        names = Counter(field.name for field in fields)
        if clashing := [field for field in fields if names[field.name] > 1]:
            # One of them has its name from the file, because those by rule are unique.
            field = next((field for field in clashing if field.wire in read_chosen_names().attributes), clashing[0])
            raise variant.node.error(
                f"Two properties have the name {field.name}.",
                next_step=suggest_entry("attributes", field.wire, f"{field.name}_"),
            )
        return fields

    def _derive(self, name: str, base: str, pointer: str, doc: str, fields: tuple[Field, ...]) -> Definition:
        """Add fields to a definition: in a subclass, or for a union in a subclass of each member."""
        wrapped = self.resolve(base)
        if isinstance(wrapped, Union):
            members = tuple(self._derive_member(name, member, pointer, doc, fields) for member in wrapped.members)
            return Union(name, pointer, doc, members, wrapped.tag, wrapped.exclusive, base)
        if isinstance(wrapped, Alias):
            raise SchemaError(pointer, f"There is no rule for adding properties to {base}, which is not an object.")
        self._check_no_field_twice(wrapped, fields, pointer)
        return Model(name, pointer, doc, fields, base)

    def _derive_member(self, union: str, member: Member, pointer: str, doc: str, fields: tuple[Field, ...]) -> Member:
        derived = self._derive(union + member.label, member.name, pointer, doc, fields)
        return replace(member, name=self._add(derived).name)

    def _check_no_field_twice(self, base: Model, fields: tuple[Field, ...], pointer: str) -> None:
        inherited = {field.name for field in Schema({**self.definitions, base.name: base}).fields(base.name)}
        for field in fields:
            if field.name in inherited:
                raise SchemaError(
                    pointer, f"The property {field.wire!r} is described here and in {base.name}, which this wraps."
                )

    def _build_union(self, name: str, union: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Union:
        """Build a union of objects. Each member gets the union's own properties, those in `common`, and `fields`."""
        described = {**common, **union.properties}
        tag = find_tag(union, described)
        shared = {key: node for key, node in described.items() if key != tag.key}
        for key in union.required - shared.keys() - {field.wire for field in fields}:
            raise union.node.error(f"There is no rule for a tag ({key!r}) that the union itself requires.", "required")
        required = union.required & shared.keys()
        nested = [replace(member, required=member.required | required) for member in union.nested]
        members = tuple(self._build_member(name, member, tag, shared, fields) for member in nested)
        if union.exclusive:
            self._check_exclusive(union, tag, members)
        return Union(
            name=name,
            pointer=union.node.pointer,
            doc=_write_union_doc(union, members),
            members=members,
            tag=self._find_tag_attribute(members) if tag.known else None,
            exclusive=union.exclusive and tag.key is None,
        )

    def _check_exclusive(self, union: Variant, tag: Tag, members: tuple[Member, ...]) -> None:
        if tag.key is not None and any(tag.key not in member.properties for member in union.nested):
            raise union.node.error("There is no rule for a tagged `oneOf` with a member that has no tag.", "oneOf")
        if tag.key is None and any(isinstance(self.definitions.get(member.name), Union) for member in members):
            raise union.node.error("There is no rule for `oneOf` over unions.", "oneOf")

    def _find_tag_attribute(self, members: tuple[Member, ...]) -> str:
        """Return the Python name of the tag's field."""
        schema = Schema(self.definitions)
        tagged = {member.name: member.tag for member in members if member.tag is not None}
        models = [model for name in tagged for model in schema.concrete_models(name)]
        fields = (field for model in models for field in schema.fields(model.name))
        return next(field.name for field in fields if field.tag in tagged.values())

    def _build_member(
        self, union: str, member: Variant, tag: Tag, shared: dict[str, Node], fields: tuple[Field, ...]
    ) -> Member:
        value = find_constant(member, tag.key)
        if value is not None and member.title:
            raise member.node.error(
                "There is no rule for a title beside a tag, which names the member already.", "title"
            )
        key = f"{union}:{value if value is not None else member.title}"
        class_name = read_chosen_names().classes.get(key, union)
        if not class_name.startswith(union):
            raise member.node.error(
                f"{NAMES} names it {class_name}, but the name of a union's member begins with that of the union.",
                next_step=_suggest_class(key, union),
            )
        label = class_name.removeprefix(union) or pascal(key.partition(":")[2])
        if not label or not is_class_name(union + label):
            raise member.node.error(
                "Expected a short constant tag or a title, to name the union member by.",
                next_step=_suggest_class(key, union) if key[-1] != ":" else "",
            )
        tag_fields, member = take_tag(member, tag, self.raw)
        adds_only_tag = not (shared or fields or member.properties or member.nested)
        if member.base and adds_only_tag and not tag_fields:
            self.resolve(member.base)
            name = member.base
        elif member.base and adds_only_tag and member.base == union + label:
            self._add_tag(member.base, tag_fields, member)
            name = member.base
        else:
            name = self._add(self._build(union + label, member, shared, (*fields, *tag_fields)), key).name
        return Member(name, label, value, member.doc, member.deprecated)

    def _add_tag(self, name: str, tag_fields: tuple[Field, ...], member: Variant) -> None:
        """Add the tag and the description of a member to the definition that it wraps. Both have the same name."""
        definition = self.resolve(name)
        if self.references[name] != 1 or not isinstance(definition, Model):
            raise member.node.error(f"The tag belongs to {name}, which is used without the tag elsewhere.")
        self._check_no_field_twice(definition, tag_fields, member.node.pointer)
        new = [text for text in member.doc.split("\n\n") if text not in definition.doc]
        doc = "\n\n".join(filter(None, (definition.doc, *new)))
        self.definitions[name] = replace(definition, doc=doc, fields=(*definition.fields, *tag_fields))


def _suggest_class(key: str, name: str) -> str:
    return suggest_entry("classes", key, f"{name}Type")


def _write_union_doc(union: Variant, members: tuple[Member, ...]) -> str:
    """Return a union's description, followed by the descriptions of members without a class of their own."""
    lines = [
        f"\n`{variant.title}`: {variant.doc}"
        for variant, member in zip(union.nested, members, strict=True)
        if member.name == variant.base and member.tag is None
    ]
    return "\n".join([union.doc, *lines]).strip()


def _find_references(schema: Any) -> list[str]:
    """Return the definition that each reference in a schema names."""
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
