"""Renders the pages of the protocol reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acp_runtime.models.names import wire_name
from codegen.data.topics import read_topics
from codegen.diff.sources import Snapshot
from codegen.emit.rendering import Templates
from codegen.emit.stub_docs import StubDocs
from codegen.escaping import code
from codegen.ir import Method, Schema
from codegen.names import attribute_name
from codegen.pinned.profiles import Profile
from codegen.reference.blocks import OTHER, Blocks
from codegen.reference.choices import read_choices
from codegen.reference.differences import differences
from codegen.reference.examples import Examples
from codegen.reference.places import find_places, method_file, topic_file
from codegen.reference.sections import Sections
from codegen.reference.texts import capitalized, description, first_sentence, presence, with_article
from codegen.reference.written import as_json, json_text

_TEMPLATES = Templates(
    Path(__file__).with_name("templates"),
    {
        "article": with_article,
        "capitalized": capitalized,
        "code": code,
        "description": description,
        "file": method_file,
        "json": json.dumps,
        "presence": presence,
        "sentence": first_sentence,
        "topic_file": topic_file,
        "wire": wire_name,
    },
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def reference_pages(profiles: Mapping[Profile, Snapshot]) -> dict[str, str]:
    """Return all pages, by the names of their files: about the first profile, and how the others differ from it."""
    profile, *others = profiles
    schema = profiles[profile].schema
    choices, topics = read_choices(), read_topics()
    places = find_places(schema, topics)
    examples = Examples(schema, choices)
    blocks = Blocks(profile.name, schema, examples)
    sections = Sections(schema, places, examples, blocks)
    pages: dict[str, str] = {}
    for method in schema.methods:
        own = list(sections.on(method_file(method)))
        payloads = [each for each in own if each.type.name in (method.params, method.result)]
        members = [each for each in own if each not in payloads]
        values = _of_method(schema, method, examples, blocks)
        pages[method_file(method)] = _render("method", payloads=payloads, members=members, **values)
    used = [topic for topic in topics if any(place.file == topic_file(topic) for place in places.values())]
    for topic in used:
        pages[topic_file(topic)] = _render("types", topic=topic, sections=list(sections.on(topic_file(topic))))
    for other in others:
        base = next((each for each in profiles if other.name == f"{each.name}_unstable"), profile)
        found = differences(profiles[base], profiles[other])
        pages[f"profile_{other.name}"] = _render("profile", profile=other, base=base.name, found=found)
    families = _families(schema, choices.families)
    about = {"profile": profile, "others": others, "places": places}
    return {"index": _render("index", families=families, topics=used, **about)} | pages


def _render(template: str, **values: Any) -> str:
    return _TEMPLATES.render(f"{template}.md.jinja", other=OTHER, **values)


def _families(schema: Schema, titles: dict[str, str]) -> dict[str, list[Method]]:
    """Return the methods by a title for the first part of their names, in upstream's order, but those of agents first.

    Methods without such a part are about the connection.
    """
    found: dict[str, list[Method]] = {"connection": []}
    for method in sorted(schema.methods, key=lambda each: each.side != "agent"):
        first, _, rest = method.wire.partition("/")
        found.setdefault(first if rest and first.isidentifier() else "connection", []).append(method)
    return {titles.get(name, name.capitalize()): methods for name, methods in found.items()}


def _of_method(schema: Schema, method: Method, examples: Examples, blocks: Blocks) -> dict[str, Any]:
    """Return the values for the template of a method's page."""
    message: dict[str, Any] = {"jsonrpc": "2.0"} | ({"id": 1} if method.result else {})
    request = {**message, "method": method.wire, "params": as_json(examples.of(method.params))}
    response = {**message, "result": as_json(examples.of(method.result))} if method.result else None
    return {
        "method": method,
        "stubs": StubDocs(schema),
        "capability": _capability_in_python(schema, method),
        "blocks": blocks,
        "request": json_text(request),
        "response": json_text(response) if response else "",
    }


def _capability_in_python(schema: Schema, method: Method) -> str:
    """Return how the caller of a method reads the method's capability."""
    role, path = method.handled_by[0], (method.capability or "").split(".")
    if path[0] != schema.properties[f"{role}_capabilities"]:
        return f"response.{attribute_name(path[0])}"
    return ".".join((role, "capabilities", *(attribute_name(each) or each for each in path[1:])))
