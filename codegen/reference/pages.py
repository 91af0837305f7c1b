"""Renders the pages of the protocol reference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.emit.rendering import Templates
from codegen.ir import Method, Schema
from codegen.pinned.profiles import Profile
from codegen.reference.blocks import OTHER, Blocks
from codegen.reference.choices import TypePage, read_choices
from codegen.reference.examples import Examples
from codegen.reference.notes import Notes
from codegen.reference.places import find_places, method_file
from codegen.reference.sections import Sections
from codegen.reference.texts import description, first_sentence, with_article
from codegen.reference.written import as_json, json_text

_TEMPLATES = Templates(
    Path(__file__).with_name("templates"),
    {"sentence": first_sentence, "description": description, "file": method_file, "article": with_article},
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


@dataclass(frozen=True)
class Family:
    """Methods whose names begin alike."""

    title: str
    methods: list[Method]


def reference_pages(profile: Profile, schema: Schema) -> dict[str, str]:
    """Return the pages about a profile, by the names of their files."""
    choices = read_choices()
    places = find_places(schema, choices.pages)
    examples = Examples(schema, choices)
    sections = Sections(schema, places, examples)
    blocks = Blocks(profile.name, schema, examples)
    used = [page for page in choices.pages if any(place.file == page.file for place in places.values())]
    families = families_of(schema, choices.families)
    overview = _TEMPLATES.render(
        "index.md.jinja", profile=profile, families=families, pages=used, places=places, other=OTHER
    )
    pages = {"index.md": overview}
    for method in schema.methods:
        values = _of_method(schema, method, examples, blocks)
        pages[f"{method_file(method)}.md"] = _TEMPLATES.render(
            "method.md.jinja", profile=profile, sections=list(sections.on(method_file(method))), **values
        )
    for page in used:
        pages[f"{page.file}.md"] = _type_page(page, sections)
    return pages


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
        "other": OTHER,
        "notes": Notes(schema),
        "blocks": blocks,
        "request": json_text(request),
        "response": json_text(response) if response else "",
    }


def _type_page(page: TypePage, sections: Sections) -> str:
    return _TEMPLATES.render("types.md.jinja", page=page, sections=list(sections.on(page.file)))
