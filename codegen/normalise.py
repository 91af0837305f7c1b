"""From the definitions of a schema to the intermediate representation.

Every definition becomes a model, a union or an alias. Unions are where upstream's JSON and Python differ most:
a member is an inline object that adds a tag to a definition, and may wrap another union. Here each member gets a
class, named `<Union><Tag>`, that derives from what it wraps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from codegen.docs import with_member_docs
from codegen.errors import SchemaError
from codegen.ir import Alias, Definition, Field, Member, Model, Schema, Type, Union, with_fields
from codegen.names import is_class_name, pascal
from codegen.nodes import Node, is_array, is_object
from codegen.properties import no_tag, open_tag, read_property, tag_field
from codegen.types import missing_definition, read_type

_VARIANTS = ("anyOf", "oneOf")

# Names that the generated modules use for other things.
RESERVED = frozenset(
    (
        *("Agent", "Client", "RemoteAgent", "RemoteClient", "Model", "OpenModel", "Any", "Annotated", "Literal"),
        *("TypeAlias", "Field", "Sequence", "Integer", "Number", "Double", "Base64", "DateTime", "Regex", "Uri"),
        *("ByTag", "FirstMatch", "ExactlyOne", "OtherThan", "NoTag", "NotNull", "DefaultOnError", "DefaultOnNull"),
        *("SkipInvalidItems", "Handler", "Remote", "MethodNotFound", "BaseModel", "Request", "Notification", "Profile"),
        *(
            "ClassVar",
            "Final",
            "Mapping",
            "SchemaSource",
            "Int8",
            "Int16",
            "Int32",
            "Int64",
            "Uint8",
            "Uint16",
            "Uint32",
            "Uint64",
        ),
    )
)


@dataclass
class Variant:
    """A member of a union while it is being read."""

    node: Node
    title: str
    doc: str
    properties: dict[str, Node]
    required: frozenset[str]
    base: str | None
    nested: tuple[Variant, ...]
    exclusive: bool
    excluded: Node | None
    is_open: bool
    tag: str | None = None


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
        self.references = Counter(_references(raw))

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
            raise SchemaError(
                found.pointer, f"{found.name} is already the name of {self.done[found.name].pointer}. Rename one."
            )
        if found.pointer != f"/$defs/{found.name}" and found.name in self.raw:
            raise SchemaError(
                found.pointer, f"This union member's name, {found.name}, is already a definition's. Add a rule for it."
            )
        self.done[found.name] = found
        return found

    def lookup(self, name: str, node: Node) -> Type:
        """The type that a reference stands for. The definition itself may not have been read yet."""
        if name not in self.raw:
            raise missing_definition(name, node)
        return Type(name, "ref", _allows_null(self.raw, name), (name,), spelled=False)

    def _definition(self, name: str, node: Node) -> Definition:
        if "title" in node:
            raise node.error("There is no rule for a definition with a title; its name is the key.", "title")
        doc = node.take("description", str, "")
        if node.take_flag("x-docs-ignore"):
            doc = f"{doc}\n\nThe wire's envelope; upstream leaves it out of its documentation.".strip()
        for keyword in ("x-side", "x-method"):  # read by codegen.methods
            node.take(keyword, str, "")
        if _is_object(self.raw, node.schema):
            variant = replace(self._variant(node), doc=doc)
            return self._build(name, variant, {}, ())
        return self._alias(name, doc, node)

    def _alias(self, name: str, doc: str, node: Node) -> Alias:
        doc = with_member_docs(doc, node.schema)
        kind = read_type(node, self.lookup)
        node.close()
        for needed in kind.names:
            self.resolve(needed)
        return Alias(name, node.pointer, doc, kind)

    # Objects and unions of objects

    def _variant(self, node: Node) -> Variant:
        """An object, its keywords taken but its properties not yet read."""
        title = node.take("title", str, "")
        doc = node.take("description", str, "")
        base = node.take_ref()
        if base is not None and base not in self.raw:
            raise missing_definition(base, node)
        if node.take("type", str, "object") != "object" or ("properties" in node) > ("type" in node):
            raise node.error('Expected `"type": "object"` here, as its neighbours have.')
        properties = node.take_map("properties")
        required: list[Any] = node.take("required", list, [])
        for key in required:
            if key not in properties:
                raise node.error(f"{key!r} is required but not described.", "required")
        excluded = node.take_node("not") if "not" in node else None
        nested = [self._variant(each) for keyword in _VARIANTS for each in node.take_list(keyword)]
        is_open = node.take_flag("unevaluatedProperties" if nested or base else "additionalProperties")
        if excluded and not is_open:
            raise node.error("An open member says so: `additionalProperties`, or `unevaluatedProperties` over others.")
        discriminator: dict[str, Any] = node.take("discriminator", dict, {})
        node.close()
        exclusive = "oneOf" in node
        variant = Variant(
            node, title, doc, properties, frozenset(required), base, tuple(nested), exclusive, excluded, is_open
        )
        variant.tag = discriminator.get("propertyName")
        return variant

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
            read_property(key, Node(node.schema, node.pointer), _requires(variant, common, key), self.lookup)
            for key, node in unread.items()
        ]

    def _derive(self, name: str, base: str, pointer: str, doc: str, fields: tuple[Field, ...]) -> Definition:
        """A definition plus fields: a subclass, or for a union the union of its members' subclasses."""
        found = self.resolve(base)
        if isinstance(found, Union):
            members = tuple(
                Member(
                    self._add_or_get(self._derive(name + each.label, each.name, pointer, doc, fields)),
                    each.label,
                    each.tag,
                )
                for each in found.members
            )
            return Union(name, pointer, doc, members, found.tag, found.exclusive)
        if isinstance(found, Alias):
            raise SchemaError(pointer, f"{base} is not an object, so nothing can be added to it.")
        self._check_no_field_twice(found, fields, pointer)
        return Model(name, pointer, doc, fields, base)

    def _check_no_field_twice(self, base: Model, fields: tuple[Field, ...], pointer: str) -> None:
        inherited = {field.name for field in Schema({**self.done, base.name: base}).fields(base.name)}
        for field in fields:
            if field.name in inherited:
                raise SchemaError(pointer, f"{field.wire!r} is defined here and in {base.name}, which this wraps.")

    def _add_or_get(self, found: Definition) -> str:
        return self._add(found).name

    def _union(self, name: str, whole: Variant, common: dict[str, Node], fields: tuple[Field, ...]) -> Union:
        tag = _tag_key(whole)
        shared = {**common, **whole.properties}
        tag_node = shared.pop(tag, None) if tag else None
        known = [value for each in whole.nested if tag and (value := _constant(each, tag)) is not None]
        for value in known:
            if known.count(value) > 1:
                raise whole.node.error(f"Two members have the tag {value!r}.")
        for key in whole.required - shared.keys() - {field.wire for field in fields}:
            raise whole.node.error(f"There is no rule for a tag ({key!r}) that the union itself requires.", "required")
        has_none = any(tag and _is_null(each, tag) for each in whole.nested)
        members = [self._member(name, whole, each, tag, known, shared, fields, tag_node) for each in whole.nested]
        if tag_node is not None and not has_none:
            raise whole.node.error(f"{tag!r} is described beside its variants, and none of them goes without it.")
        if tag is not None and whole.exclusive != (whole.tag is not None):
            raise whole.node.error("Expected a `discriminator` beside `oneOf` with a tag, and none beside `anyOf`.")
        exclusive = whole.exclusive and tag is None
        if exclusive and any(isinstance(self.done.get(each.name), Union) for each in members):
            raise whole.node.error("There is no rule for `oneOf` over unions.", "oneOf")
        if whole.exclusive and tag is not None and any(each.tag is None for each in members):
            raise whole.node.error("There is no rule for `oneOf` with a member that has no constant tag.", "oneOf")
        attribute = next((field.name for field in self._tag_fields(members)), None) if known else None
        doc = self._union_doc(whole, members)
        return Union(name, whole.node.pointer, doc, tuple(members), attribute, exclusive)

    def _union_doc(self, whole: Variant, members: list[Member]) -> str:
        """A union's description, and those of its members that have no class of their own to say it."""
        plain = [(each, member) for each, member in zip(whole.nested, members, strict=True) if member.name == each.base]
        lines = [f"\n`{each.title}`: {each.doc}" for each, member in plain if member.tag is None]
        return "\n".join([whole.doc, *lines]).strip()

    def _tag_fields(self, members: list[Member]) -> list[Field]:
        schema = Schema(self.done)
        leaves = [leaf for member in members if member.tag is not None for leaf in schema.leaves(member.name)]
        tags = {member.tag for member in members}
        return [field for leaf in leaves for field in schema.fields(leaf.name) if field.tag in tags and field.tag]

    def _member(
        self,
        union: str,
        whole: Variant,
        each: Variant,
        tag: str | None,
        known: list[str],
        shared: dict[str, Node],
        fields: tuple[Field, ...],
        tag_node: Node | None,
    ) -> Member:
        value = _constant(each, tag) if tag else None
        if value is not None and each.title:
            raise each.node.error("A member with a constant tag is named by it; there is no rule for a title.", "title")
        label = pascal(value if value is not None else each.title)
        if not label:
            raise each.node.error("A union member needs a constant tag or a title to be named by.")
        each.required = each.required | (whole.required & shared.keys())
        own = self._tag(each, tag, value, known, tag_node)
        name = union + label
        plain = each.base and not (own or shared or fields or each.properties or each.nested)
        if plain and each.base:
            self.resolve(each.base)
            return Member(each.base, label)
        if name == each.base and own and not (shared or fields or each.properties):
            return Member(self._tag_in_place(name, own, each.node), label, value)
        return Member(self._add(self._build(name, each, shared, (*fields, *own))).name, label, value)

    def _tag_in_place(self, name: str, own: tuple[Field, ...], node: Node) -> str:
        """Put the tag into the definition that a member wraps, because the member's name is already that definition."""
        found = self.resolve(name)
        if self.references[name] != 1 or not isinstance(found, Model):
            raise node.error(f"The tag would go into {name}, which is used without the tag elsewhere.")
        self._check_no_field_twice(found, own, node.pointer)
        self.done[name] = with_fields(found, *own)
        return name

    def _tag(
        self, each: Variant, tag: str | None, value: str | None, known: list[str], tag_node: Node | None
    ) -> tuple[Field, ...]:
        """The tag field of a member, taken out of its properties."""
        if tag is None or not known or tag not in each.properties:
            if each.excluded is not None:
                raise each.node.error("`not` is only known on the open member of a union with a tag.", "not")
            return ()
        node = each.properties.pop(tag)
        if value is not None:
            if each.excluded is not None:
                raise each.node.error("A member with a constant tag excludes nothing.", "not")
            return (tag_field(tag, node, value),)
        if _is_null_type(node.schema):
            if tag in each.required:
                raise each.node.error(f"There is no rule for a null {tag!r} that is required.", "required")
            field = read_property(tag, node, False, self.lookup)
            salvaged = tag_node is not None and _salvaged_string(tag_node, self)
            return (no_tag(field, salvaged),)
        if tag not in each.required:
            raise each.node.error(f"The open member has to require the tag {tag!r}.", "required")
        if each.excluded is None or set(_excluded(each.excluded, tag)) != set(known):
            raise each.node.error(f"An open member excludes exactly the known tags: {', '.join(sorted(known))}.", "not")
        return (open_tag(read_property(tag, node, True, self.lookup), known),)


def _requires(variant: Variant, common: dict[str, Node], key: str) -> bool:
    return key in variant.required


def _salvaged_string(node: Node, reader: _Reader) -> bool:
    """The tag as it is described beside the variants: an optional string that gives way when it is malformed."""
    field = read_property("tag", Node(node.schema, node.pointer), False, reader.lookup)
    if field.type.annotation != "str | None" or field.has_default:
        raise node.error(f"Expected an optional string, found {field.type.annotation}.")
    return "DefaultOnError" in field.markers


def _tag_key(whole: Variant) -> str | None:
    """The property that is a constant in members of a union."""
    keys = dict.fromkeys(key for each in whole.nested for key in each.properties if _constant(each, key) is not None)
    if whole.tag is not None and whole.tag not in keys:
        raise whole.node.error(f"No member has a constant {whole.tag!r}.", "discriminator")
    if len(keys) > 1 and whole.tag is None:
        raise whole.node.error(f"Its members have several constants ({', '.join(keys)}); which one is the tag?")
    return whole.tag or next(iter(keys), None)


def _constant(each: Variant, key: str) -> str | None:
    node = each.properties.get(key)
    value = node.schema.get("const") if node is not None else None
    return value if isinstance(value, str) and key in each.required else None


def _is_null(each: Variant, key: str) -> bool:
    return key in each.properties and _is_null_type(each.properties[key].schema)


def _is_null_type(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("type") == "null")


def _excluded(node: Node, tag: str) -> list[str]:
    """The tags that `not` lists, each as an object of its own."""
    found: list[str] = []
    for each in node.take_list("anyOf"):
        constant = each.schema.get("properties", {}).get(tag, {}).get("const")
        described = {tag: {"type": "string", "const": constant}}
        if not isinstance(constant, str) or each.schema != {
            "type": "object",
            "properties": described,
            "required": [tag],
        }:
            raise each.error("Expected one constant tag here and nothing else.")
        found.append(constant)
    node.close()
    return found


def _is_object(raw: dict[str, Any], schema: Any, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a schema describes an object with a class of its own (or a union of such)."""
    if not is_object(schema):
        return False
    if "properties" in schema or schema.get("type") == "object":
        return True
    variants = [each for keyword in _VARIANTS for each in schema.get(keyword, ())]
    if variants:
        return all(_is_object(raw, each, seen) for each in variants)
    parts = schema.get("allOf", ())
    refs = [each["$ref"].removeprefix("#/$defs/") for each in (*parts, schema) if is_object(each) and "$ref" in each]
    return bool(refs) and all(ref not in seen and _is_object(raw, raw.get(ref), seen | {ref}) for ref in refs)


def _allows_null(raw: dict[str, Any], name: str, seen: frozenset[str] = frozenset()) -> bool:
    return name not in seen and _schema_allows_null(raw, raw.get(name, {}), seen | {name})


def _schema_allows_null(raw: dict[str, Any], schema: Any, seen: frozenset[str]) -> bool:
    if not set(schema) - {"description", "title", "x-side", "x-method"}:
        return True
    declared = schema.get("type", [])
    if declared == "null" or "null" in declared:
        return True
    variants = [each for keyword in _VARIANTS for each in schema.get(keyword, ())]
    if "$ref" in schema:
        return _allows_null(raw, schema["$ref"].removeprefix("#/$defs/"), seen)
    return any(_schema_allows_null(raw, each, seen) for each in (*variants, *schema.get("allOf", ())))


def _references(schema: Any) -> list[str]:
    if is_object(schema):
        own = [schema["$ref"].removeprefix("#/$defs/")] if isinstance(schema.get("$ref"), str) else []
        return own + [name for value in schema.values() for name in _references(value)]
    if is_array(schema):
        return [name for value in schema for name in _references(value)]
    return []
