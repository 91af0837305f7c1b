"""Attaches the facts of `methods.toml` to the methods of a schema, and checks them against its definitions.

A method without an entry gets a proposed one, which `make upgrade` writes to the file for a person to confirm.

Facts name properties of the schema. The file covers every release, so a fact about a property that this schema doesn't
have is dropped, and its name is in `Method.missing`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from codegen.data.facts_file import (
    FILE,
    Entries,
    Table,
    find_entries,
    find_may_be_missing,
    find_shared_properties,
    next_step_for_entry,
)
from codegen.errors import SchemaError
from codegen.ir import Definition, Field, Method, Model, Schema, Union
from codegen.nodes import escape
from codegen.toml import SEE_TOP_OF_FILE

# The message in which each side advertises its capabilities.
ADVERTISED_IN = {"agent": "InitializeResponse", "client": "InitializeRequest"}
CORRECT = "Correct the entry."
_OF_REQUESTS = frozenset({"opens", "creates", "gone", "cancelled"})
_OF_NOTIFICATIONS = frozenset({"cancels"})
_NAME_IN_DESCRIPTION = re.compile(r"`([A-Za-z.]+)`")
_OFFERED = "the other side is known to handle it"


def attach_facts(schema: Schema, facts: str, table: Table | None = None) -> Schema:
    """Return a schema with the facts of `methods.toml`. For the arguments, see `find_shared_properties`."""
    properties = find_shared_properties(facts, table)
    resolver = Resolver(schema, facts, properties)
    methods = [
        resolver.resolve(method, find_entries(facts, method.side, method.wire, table)) for method in schema.methods
    ]
    definitions = _mark_may_be_missing(schema, find_may_be_missing(facts, table))
    return replace(schema, definitions=definitions, methods=methods, properties=properties)


def _mark_may_be_missing(schema: Schema, sources: dict[str, str]) -> dict[str, Definition]:
    """Return the definitions, in which required lists that a peer may leave out are marked.

    Args:
        schema: the schema. Names that it doesn't have are ignored.
        sources: the names of these lists, and where upstream says that they aren't required.
    """
    definitions = dict(schema.definitions)
    for name, source in sources.items():
        definition = definitions.get(name.partition(".")[0])
        if isinstance(definition, Model):
            fields = (
                _mark_field(field, source) if name == f"{definition.name}.{field.wire}" else field
                for field in definition.fields
            )
            definitions[definition.name] = replace(definition, fields=tuple(fields))
    return definitions


def _mark_field(field: Field, source: str) -> Field:
    if not field.required or field.type.kind != "array":
        return field
    doc = f"{field.doc}\n\nIf a peer leaves it out, it is read as empty. Upstream's pages don't require it: {source}"
    return replace(field, doc=doc.strip(), markers=(*field.markers, "DefaultOnMissing"))


class Resolver:
    """Resolves names in entries of `methods.toml` to properties of one schema.

    Args:
        schema: the schema, whose methods may have no facts yet.
        facts: the name of the profile's own tables in `methods.toml`.
        properties: the properties that all its methods share, as in `methods.toml`.
    """

    def __init__(self, schema: Schema, facts: str, properties: dict[str, str]) -> None:
        self._schema = schema
        self._own_tables = facts
        self._properties = properties
        self._notifications = {method.wire: method.params for method in schema.methods if method.result is None}
        # Names that both a request and a notification have. They share an entry, and each takes the facts that fit it.
        self._both = self._notifications.keys() & {
            method.wire for method in schema.methods if method.result is not None
        }

    def resolve(self, method: Method, entries: Entries, *, checked: bool = True) -> Method:
        """Return a method with the facts of an entry: the first one of which this schema lacks the fewest names.

        Without entries, the method gets the proposed one. With `checked`, the schema must have every capability.
        """
        candidates = entries or [("", self._propose(method))]
        table, entry = min(candidates, key=lambda candidate: len(self.find_missing(method, candidate[1])))
        capability: str | None = entry.get("capability")
        parts: dict[str, str] = entry.get("content", {})
        content = {part: path for part, path in parts.items() if has_part(self._schema, method, part)}
        if checked:
            for part, path in content.items():
                self._check_path(method.side, path, f"{method.wire} with {part}")
            if capability:
                self._check_path(method.side, capability, method.wire)
        return replace(
            method,
            capability=capability,
            baseline=entry.get("baseline", False),
            content=tuple(content.items()),
            offered=entry.get("offered", ""),
            facts=tuple(self._facts(method, entry)),
            entry=entry,
            table=table,
            missing=self.find_missing(method, entry),
        )

    def _propose(self, method: Method) -> dict[str, Any]:
        doc = f"{method.doc} {self._schema.definitions[method.params].doc}"
        start = self._properties.get(f"{method.side}_capabilities", "")
        paths = find_capability_paths(self._schema, ADVERTISED_IN.get(method.side, ""), start)
        try:
            return _propose_entry(list(paths), method.wire, doc)
        except ValueError as error:
            raise SchemaError(
                f"/$defs/{method.params}/x-method",
                f"{FILE} has no entry for the method {method.wire}, and none can be proposed. {error}",
                next_step=f"Add an entry. {SEE_TOP_OF_FILE}",
            ) from error

    def find_missing(self, method: Method, entry: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the names in an entry that this schema lacks, after the entry's key that names them."""
        return tuple((key, name) for key, name, exists in self._find_names(method, entry) if not exists)

    def _find_names(self, method: Method, entry: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
        """Yield the names in an entry: the entry's key, the name, and whether this schema has it."""
        content = entry.get("content", {})
        for path in dict.fromkeys((entry.get("capability"), *content.values())):
            if path is not None:
                yield "capability", path, self._missing_step(ADVERTISED_IN[method.side], path) is None
        yield from (("content", part, has_part(self._schema, method, part)) for part in content)
        for key, fields in self._fields_by_key(method).items():
            yield from ((key, name, name in fields) for name in _names_in(entry, key))
        if login := entry.get("login"):
            yield "login", login["property"], login["property"] in fields_by_wire(self._schema, method.params)
            ids, tags = self._find_login_methods(method.side, login["of"])
            yield "login", login["of"], ids is not None
            yield "login", login["excluded"], login["excluded"] in tags
        if cancelled := entry.get("cancelled"):
            yield "cancelled", cancelled["by"], cancelled["by"] in self._notifications
            returned = fields_by_wire(self._schema, method.result or "")
            yield from (("cancelled", key, key in returned) for key in cancelled["result"])

    def _find_login_methods(self, side: str, path: str) -> tuple[Field | None, set[str | None]]:
        """Return the field with the id of a login method, and the tags of all login methods."""
        wire, _, key = path.partition(".")
        field = fields_by_wire(self._schema, ADVERTISED_IN[side]).get(wire)
        items = field.type.non_null.parts[:1] if field else ()
        ids = [fields_by_wire(self._schema, item.name).get(key) for item in items]
        return (ids[0] if ids else None), {*_find_item_tags(self._schema, field)} if field else set()

    def _fields_by_key(self, method: Method) -> dict[str, dict[str, Field]]:
        """Return the fields that a fact may name, by the fact's key."""
        params = fields_by_wire(self._schema, method.params)
        result = fields_by_wire(self._schema, method.result or "")
        return {
            "creates": result,
            "ends": params,
            "exempt": params,
            "cancels": {} if method.result else params,
            "paths": params,
        }

    def _facts(self, method: Method, entry: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the facts whose properties this schema has, as keywords of `Request` or `Notification`."""
        place, result = f"{FILE} {method.wire!r}", method.result or ""
        facts = self._facts_of_kind(method, entry)
        result_fields = fields_by_wire(self._schema, result)
        yield from ((key, facts[key]) for key in ("opens", "gone") if key in facts)
        required = [wire for wire, field in result_fields.items() if field.required]
        if "gone" in facts and required:
            raise _error(result, f"{place}: `gone` gives callers an empty result, but {required[0]!r} is required.")
        for key, fields in self._fields_by_key(method).items():
            if attributes := tuple(fields[name].name for name in _names_in(facts, key) if name in fields):
                yield key, attributes if key == "paths" else attributes[0]
        if "login" in facts and not any(key == "login" for key, _ in self.find_missing(method, entry)):
            login = facts["login"]
            attribute = fields_by_wire(self._schema, method.params)[login["property"]].name
            yield "login", (attribute, *login["of"].split("."), login["excluded"])
        cancelled = facts.get("cancelled")
        if cancelled and cancelled["result"].keys() <= result_fields.keys():
            self._check_cancelled(cancelled["by"], place, result)
            result_json = json.dumps(cancelled["result"], separators=(",", ":"))
            yield "cancelled", (cancelled["by"], result_json, cancelled.get("by_id", False))

    def _facts_of_kind(self, method: Method, entry: dict[str, Any]) -> dict[str, Any]:
        """Return an entry without the facts of the other kind, which a request and a notification may share."""
        other_kind, of_other_kind = ("notification", _OF_NOTIFICATIONS) if method.result else ("request", _OF_REQUESTS)
        unfit = sorted(entry.keys() & of_other_kind)
        if unfit and method.wire not in self._both:
            raise _error(
                method.params,
                f"{FILE} {method.wire!r}: `{unfit[0]}` is for a {other_kind}, but {method.wire} is a {method.kind}.",
            )
        return {key: value for key, value in entry.items() if key not in of_other_kind}

    def _check_cancelled(self, by: str, place: str, result: str) -> None:
        if by not in self._notifications:
            notifications = ", ".join(sorted(self._notifications)) or "none"
            raise _error(result, f"{place}: `cancelled` names {by!r}, but the notifications here are {notifications}.")
        session, params = self._properties["session"], self._notifications[by]
        if session not in fields_by_wire(self._schema, params):
            raise _error(params, f"{place}: `cancelled` names {by!r}, but its params have no {session!r}.")

    def _check_path(self, side: str, path: str, call: str) -> None:
        """Check that every step of a capability's path is a property in this schema."""
        if missing := self._missing_step(ADVERTISED_IN[side], path):
            pointer, step = missing
            message = f"{FILE} says that {call} needs {path}, but there is no {step!r} here."
            raise SchemaError(pointer, message, next_step=next_step_for_entry(self._own_tables, side))

    def _missing_step(self, start: str, path: str) -> tuple[str, str] | None:
        """Return the first step of a capability's path that this schema lacks, after the place that lacks it."""
        name, pointer = start, f"/$defs/{start}"
        for step in path.split("."):
            field = fields_by_wire(self._schema, name).get(step)
            if field is None:
                return pointer, step
            name = field.type.non_null.name
            pointer = f"/$defs/{name}" if name else f"{pointer}/properties/{escape(step)}"
        return None


def _names_in(entry: dict[str, Any], key: str) -> list[str]:
    """Return the names in a fact, which is one name or a list of names."""
    names = entry.get(key, [])
    return [names] if isinstance(names, str) else names


def fields_by_wire(schema: Schema, name: str) -> dict[str, Field]:
    """Return the fields of a definition by their keys in JSON. A union's are those that all its members have."""
    models = list(schema.concrete_models(name)) if name in schema.definitions else []
    first, *others = [{field.wire: field for field in schema.fields(model.name)} for model in models] or [{}]
    return {wire: field for wire, field in first.items() if all(wire in fields for fields in others)}


def has_part(schema: Schema, method: Method, part: str) -> bool:
    """Return whether the params have a part: `<field>`, or `<field>.<tag>` if the field or its items have tags."""
    wire, _, tag = part.partition(".")
    fields = [field for model in schema.concrete_models(method.params) for field in schema.fields(model.name)]
    return any(
        field.wire == wire and (not tag or tag in {field.tag, *_find_item_tags(schema, field)}) for field in fields
    )


def _find_item_tags(schema: Schema, field: Field) -> Iterator[str | None]:
    items = (schema.definitions.get(part.name) for part in field.type.non_null.parts)
    return (member.tag for definition in items if isinstance(definition, Union) for member in definition.members)


def find_capability_paths(schema: Schema, message: str, start: str) -> Iterator[str]:
    """Yield the paths of all capabilities below a property of the message that advertises them."""
    first = fields_by_wire(schema, message).get(start)
    return _find_paths_below(schema, start, first.type.non_null.name, ()) if first else iter(())


def _find_paths_below(schema: Schema, path: str, name: str, seen: tuple[str, ...]) -> Iterator[str]:
    for wire, field in fields_by_wire(schema, name).items() if name not in seen else ():
        if wire != "_meta":  # extensions unlock nothing in the schema
            yield f"{path}.{wire}"
            yield from _find_paths_below(schema, f"{path}.{wire}", field.type.non_null.name, (*seen, name))


def _error(definition: str, message: str) -> SchemaError:
    return SchemaError(f"/$defs/{definition}", message, next_step=CORRECT)


def _propose_entry(paths: list[str], wire: str, doc: str) -> dict[str, Any]:
    """Return an entry for a method, by the capability that fits its name or that its description names.

    Args:
        paths: the capabilities of the method's side.
        wire: the method's name.
        doc: the schema's descriptions of the method and its params.

    Raises:
        ValueError: several capabilities fit.
    """
    steps = [_normalise_step(step) for step in wire.split("/")]
    by_name = [path for path in paths if [_normalise_step(step) for step in path.split(".")][-len(steps) :] == steps]
    in_description = (_find_shortest(paths, name) for name in _NAME_IN_DESCRIPTION.findall(doc))
    candidates = by_name or list(dict.fromkeys(filter(None, in_description)))
    if len(candidates) > 1:
        raise ValueError(f"Several capabilities fit its name or its description: {', '.join(candidates)}.")
    return {"capability": candidates[0]} if candidates else {"offered": _OFFERED}


def _find_shortest(paths: list[str], name: str) -> str:
    """Return the shortest path that ends with a name; empty if there is none."""
    return min((path for path in paths if f".{path}".endswith(f".{name}")), key=len, default="")


def _normalise_step(step: str) -> str:
    """Return a step of a name in the form that methods and capabilities share: `session` for `sessionCapabilities`."""
    return step.replace("_", "").lower().removesuffix("capabilities")
