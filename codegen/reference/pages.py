"""Renders the pages of the protocol reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.emit.rendering import Templates
from codegen.ir import Method, Schema
from codegen.pinned.profiles import Profile
from codegen.read.topics_file import read_topics
from codegen.reference.blocks import OTHER, Blocks
from codegen.reference.choices import read_choices
from codegen.reference.differences import differences
from codegen.reference.examples import Examples
from codegen.reference.notes import Notes
from codegen.reference.places import find_places, method_file, topic_file
from codegen.reference.sections import Sections
from codegen.reference.texts import capitalized, description, first_sentence, with_article
from codegen.reference.written import as_json, json_text

_TEMPLATES = Templates(
    Path(__file__).with_name("templates"),
    {
        "article": with_article,
        "capitalized": capitalized,
        "description": description,
        "file": method_file,
        "sentence": first_sentence,
        "topic_file": topic_file,
    },
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


@dataclass(frozen=True)
class Family:
    """Methods whose names begin alike."""

    title: str
    methods: list[Method]


def reference_pages(schemas: Mapping[Profile, Schema]) -> dict[str, str]:
    """Return all pages, by the names of their files: about the first profile, and how the others differ from it."""
    (profile, schema), *others = schemas.items()
    choices, topics = read_choices(), read_topics()
    places = find_places(schema, topics)
    examples = Examples(schema, choices)
    blocks = Blocks(profile.name, schema, examples)
    sections = Sections(schema, places, examples, blocks)
    pages: dict[str, str] = {}
    for method in schema.methods:
        own = list(sections.on(method_file(method)))
        payloads = [each for each in own if each.name in (method.params, method.result)]
        members = [each for each in own if each not in payloads]
        values = _of_method(schema, method, examples, blocks)
        pages[method_file(method)] = _render("method", payloads=payloads, members=members, **values)
    used = [topic for topic in topics if any(place.file == topic_file(topic) for place in places.values())]
    for topic in used:
        pages[topic_file(topic)] = _render("types", topic=topic, sections=list(sections.on(topic_file(topic))))
    for other, differing in others:
        base = next((each for each in schemas if other.name == f"{each.name}_unstable"), profile)
        found = differences(schemas[base], differing)
        pages[f"profile_{other.name}"] = _render("profile", profile=other, base=base.name, found=found)
    families = families_of(schema, choices.families)
    about = {"profile": profile, "others": [each for each, _ in others], "places": places}
    return {"index": _render("index", families=families, topics=used, **about)} | pages


def _render(template: str, **values: Any) -> str:
    return _TEMPLATES.render(f"{template}.md.jinja", other=OTHER, **values)


def families_of(schema: Schema, titles: dict[str, str]) -> list[Family]:
    """Return the methods by the first part of their names, in upstream's order, but those of agents first.

    Methods without such a part are about the connection.
    """
    found: dict[str, list[Method]] = {"connection": []}
    for method in sorted(schema.methods, key=lambda each: each.side != "agent"):
        first, _, rest = method.wire.partition("/")
        found.setdefault(first if rest and first.isidentifier() else "connection", []).append(method)
    return [Family(titles.get(name, name.capitalize()), methods) for name, methods in found.items()]


def _of_method(schema: Schema, method: Method, examples: Examples, blocks: Blocks) -> dict[str, Any]:
    """Return the values for the template of a method's page."""
    message: dict[str, Any] = {"jsonrpc": "2.0"} | ({"id": 1} if method.result else {})
    request = {**message, "method": method.wire, "params": as_json(examples.of(method.params))}
    response = {**message, "result": as_json(examples.of(method.result))} if method.result else None
    return {
        "method": method,
        "notes": Notes(schema),
        "blocks": blocks,
        "request": json_text(request),
        "response": json_text(response) if response else "",
    }
