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
    NEXT,
    UNSTABLE,
    Entries,
    Tables,
    find_entries,
    find_may_be_missing,
    find_place_entries,
    find_shared_properties,
    next_step_for_entry,
)
from codegen.data.place_facts import PlaceFactFinder, find_messages, find_place_keys
from codegen.data.places import Places
from codegen.errors import SchemaError
from codegen.facts import Accepted, Cancelled
from codegen.ir import Definition, Field, Method, Model, Schema, Union
from codegen.nodes import escape
from codegen.toml import SEE_TOP_OF_FILE

# The message in which each side advertises its capabilities.
ADVERTISED_IN = {"agent": "InitializeResponse", "client": "InitializeRequest"}
CORRECT = "Correct the entry."
_OF_REQUESTS = frozenset({"opens", "creates", "gone", "cancelled", "interactive", "accepted"})
_OF_NOTIFICATIONS = frozenset({"cancels"})
_NAME_IN_DESCRIPTION = re.compile(r"`([A-Za-z.]+)`")
_OFFERED = "the other side is known to handle it"


def attach_facts(schema: Schema, own_tables: str, tables: Tables | None = None, *, checked: bool = True) -> Schema:
    """Return a schema with the facts of `methods.toml`. With `checked`, the schema must have every capability.

    For the other arguments, see `find_shared_properties`.
    """
    properties = find_shared_properties(own_tables, tables)
    resolver = Resolver(schema, own_tables, properties)
    methods = [
        resolver.resolve(method, find_entries(own_tables, method.side, method.wire, tables), checked=checked)
        for method in schema.methods
    ]
    definitions = _mark_may_be_missing(schema, find_may_be_missing(own_tables, tables))
    schema = replace(schema, definitions=definitions, methods=methods, properties=properties)
    return attach_place_facts(schema, own_tables, find_place_entries(own_tables, tables), checked=checked)


def attach_place_facts(schema: Schema, own_tables: str, entries: dict[str, Entries], *, checked: bool = True) -> Schema:
    """Return a schema with the facts about places in messages.

    Args:
        schema: the schema, with its properties.
        own_tables: the name of the profile's own tables in `methods.toml`.
        entries: the entries about places, by key.
        checked: whether the schema must have every capability.
    """
    places = Places(schema)
    finder = PlaceFactFinder(
        places=places,
        entries=entries,
        advertised={side: find_advertised(schema, name) for side, name in ADVERTISED_IN.items()},
        starts={side: schema.properties.get(f"{side}_capabilities", "") for side in ADVERTISED_IN},
        own_tables=own_tables,
        checked=checked,
    )
    methods: list[Method] = []
    for method in schema.methods:
        facts = {message.definition: finder.find(message) for message in find_messages(method)}
        params_facts, result_facts = facts.get(method.params, ()), facts.get(method.result or "", ())
        methods.append(replace(method, params_facts=params_facts, result_facts=result_facts))
    keys = find_place_keys(schema, places)
    has_place = {key: key in keys or (False if _is_expected(of_key) else None) for key, of_key in entries.items()}
    return replace(schema, methods=methods, places=has_place)


def _is_expected(entries: Entries) -> bool:
    """Return whether a schema should have a place: its version's table names it, and no other says otherwise."""
    table, _ = entries[-1]
    return NEXT not in table and UNSTABLE not in table and all(entry for _, entry in entries)


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
        own_tables: the name of the profile's own tables in `methods.toml`.
        properties: the properties that all its methods share, as in `methods.toml`.
    """

    def __init__(self, schema: Schema, own_tables: str, properties: dict[str, str]) -> None:
        self._schema = schema
        self._own_tables = own_tables
        self._properties = properties
        self._places = Places(schema)
        self._notifications = {method.wire: method.params for method in schema.methods if method.result is None}
        # Wire names of both a request and a notification, which share an entry. Each takes the facts that fit it.
        self._both = self._notifications.keys() & {
            method.wire for method in schema.methods if method.result is not None
        }

    def resolve(self, method: Method, entries: Entries, *, checked: bool = True) -> Method:
        """Return a method with the facts of one of its entries, the first with the fewest names that this schema lacks.

        Without entries, the method gets the proposed one. With `checked`, the schema must have every capability.
        """
        candidates = entries or [("", self._propose(method))]
        table, entry = min(candidates, key=lambda candidate: len(self.find_missing(method, candidate[1])))
        capability: str | None = entry.get("capability")
        if checked and capability:
            self._check_path(method.side, capability, method.wire)
        return replace(
            method,
            capability=capability,
            baseline=entry.get("baseline", False),
            offered=entry.get("offered", ""),
            facts=dict(self._find_facts(method, entry)),
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
        """Return the names in an entry that this schema lacks, each after the entry's key that names it."""
        return tuple((key, name) for key, name, exists in self._find_names(method, entry) if not exists)

    def _find_names(self, method: Method, entry: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
        """Yield the names in an entry: the entry's key, the name, and whether this schema has it."""
        if path := entry.get("capability"):
            yield "capability", path, self._find_missing_step(ADVERTISED_IN[method.side], path) is None
        for key, fields in self._find_fields_by_key(method).items():
            if name := entry.get(key):
                yield key, name, name in fields
        if cancelled := entry.get("cancelled"):
            yield "cancelled", cancelled["by"], cancelled["by"] in self._notifications
            returned = fields_by_wire(self._schema, method.result or "")
            yield from (("cancelled", key, key in returned) for key in cancelled.get("result", ()))
        if accepted := entry.get("accepted"):
            sent = [method for method in self._schema.methods if method.wire == accepted["by"]]
            yield "accepted", accepted["by"], bool(sent)
            places = {".".join(place.path) for method in sent for place in self._places.find(method.params)}
            yield from (("accepted", part, part in places) for part in accepted["parts"])
            yield "accepted", accepted["id"], accepted["id"] in fields_by_wire(self._schema, method.result or "")

    def _find_fields_by_key(self, method: Method) -> dict[str, dict[str, Field]]:
        """Return the fields that a fact may name, by the fact's key."""
        params = fields_by_wire(self._schema, method.params)
        result = fields_by_wire(self._schema, method.result or "")
        return {
            "creates": result,
            "ends": params,
            "exempt": params,
            "cancels": {} if method.result else params,
        }

    def _find_facts(self, method: Method, entry: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the facts whose properties this schema has, as keywords of `Request` or `Notification`."""
        place, result = f"{FILE} {method.wire!r}", method.result or ""
        facts = self._drop_other_kind(method, entry)
        result_fields = fields_by_wire(self._schema, result)
        yield from ((key, facts[key]) for key in ("opens", "gone", "interactive") if key in facts)
        required = [wire for wire, field in result_fields.items() if field.required]
        if "gone" in facts and required:
            raise _error(result, f"{place}: `gone` gives callers an empty result, but {required[0]!r} is required.")
        for key, fields in self._find_fields_by_key(method).items():
            if facts.get(key) in fields:
                yield key, fields[facts[key]].name
        cancelled = facts.get("cancelled")
        if cancelled and cancelled.get("result", {}).keys() <= result_fields.keys():
            self._check_cancelled(cancelled["by"], place, result)
            result_json = json.dumps(cancelled["result"], separators=(",", ":")) if "result" in cancelled else ""
            yield "cancelled", Cancelled(cancelled["by"], result_json, cancelled.get("by_id", False))
        if "accepted" in facts and all(
            exists for key, _, exists in self._find_names(method, entry) if key == "accepted"
        ):
            yield "accepted", self._resolve_accepted(facts["accepted"], place, result)

    def _drop_other_kind(self, method: Method, entry: dict[str, Any]) -> dict[str, Any]:
        """Return an entry without the facts of the other kind. A request and a notification may share an entry."""
        other_kind, of_other_kind = ("notification", _OF_NOTIFICATIONS) if method.result else ("request", _OF_REQUESTS)
        unfit = sorted(entry.keys() & of_other_kind)
        if unfit and method.wire not in self._both:
            raise _error(
                method.params,
                f"{FILE} {method.wire!r}: `{unfit[0]}` is for a {other_kind}, but {method.wire} is a {method.kind}.",
            )
        return {key: value for key, value in entry.items() if key not in of_other_kind}

    def _resolve_accepted(self, fact: dict[str, Any], place: str, result: str) -> Accepted:
        wire = fact["parts"][0].partition(".")[0]
        field = fields_by_wire(self._schema, self._notifications[fact["by"]])[wire]
        union = self._schema.definitions.get(field.type.non_null.name)
        tag = union.tag if isinstance(union, Union) else None
        tags = [part.removeprefix(f"{wire}.") for part in fact["parts"]]
        if tag is None or any("." in value for value in tags):
            parts = ", ".join(fact["parts"])
            raise _error(result, f"{place}: `accepted` needs tags of one field, but names {parts}.")
        id_field = fields_by_wire(self._schema, result)[fact["id"]]
        return Accepted(by=fact["by"], field=field.name, tag=tag, tags=tags, id=id_field.name)

    def _check_cancelled(self, by: str, place: str, result: str) -> None:
        if by not in self._notifications:
            notifications = ", ".join(sorted(self._notifications)) or "none"
            raise _error(result, f"{place}: `cancelled` names {by!r}, but the notifications here are {notifications}.")
        session, params = self._properties["session"], self._notifications[by]
        if session not in fields_by_wire(self._schema, params):
            raise _error(params, f"{place}: `cancelled` names {by!r}, but its params have no {session!r}.")

    def _check_path(self, side: str, path: str, call: str) -> None:
        """Check that every step of a capability's path is a property in this schema."""
        if missing := self._find_missing_step(ADVERTISED_IN[side], path):
            pointer, step = missing
            message = f"{FILE} says that {call} needs {path}, but there is no {step!r} here."
            raise SchemaError(pointer, message, next_step=next_step_for_entry(self._own_tables, side))

    def _find_missing_step(self, start: str, path: str) -> tuple[str, str] | None:
        """Return the first step of a capability's path that this schema lacks, after the place that lacks it."""
        name, pointer = start, f"/$defs/{start}"
        for step in path.split("."):
            field = fields_by_wire(self._schema, name).get(step)
            if field is None:
                return pointer, step
            name = field.type.non_null.name
            pointer = f"/$defs/{name}" if name else f"{pointer}/properties/{escape(step)}"
        return None


def fields_by_wire(schema: Schema, name: str) -> dict[str, Field]:
    """Return the fields of a definition by their keys in JSON. A union's are those that all its members have."""
    models = list(schema.concrete_models(name)) if name in schema.definitions else []
    first, *others = [{field.wire: field for field in schema.fields(model.name)} for model in models] or [{}]
    return {wire: field for wire, field in first.items() if all(wire in fields for fields in others)}


def find_capability_paths(schema: Schema, message: str, start: str) -> list[str]:
    """Return the paths of all capabilities below a property of the message that advertises them."""
    return [path for path in find_advertised(schema, message) if path.startswith(f"{start}.")]


def find_advertised(schema: Schema, message: str) -> dict[str, str]:
    """Return the paths of everything in a message, each with its definition and property, as Rust writes them."""
    return dict(_find_paths_below(schema, "", message, ()))


def _find_paths_below(schema: Schema, start: str, name: str, seen: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for wire, field in fields_by_wire(schema, name).items() if name not in seen else ():
        if wire != "_meta":  # extensions unlock nothing in the schema
            yield f"{start}{wire}", f"{name}::{wire}"
            yield from _find_paths_below(schema, f"{start}{wire}.", field.type.non_null.name, (*seen, name))


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
