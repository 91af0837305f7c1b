"""Renders the pages of the protocol reference, for `python -m codegen reference <folder>`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acp_runtime.models.json_values import wire_name
from codegen.data.topics import read_topics
from codegen.diff.report import compare
from codegen.diff.sources import Side, Snapshot
from codegen.emit.rendering import Templates
from codegen.emit.stub_docs import StubDocs
from codegen.escaping import code
from codegen.ir import OTHER_ROLE, Method
from codegen.pinned.pins import load
from codegen.pinned.profiles import Profile
from codegen.reference.blocks import write_blocks
from codegen.reference.examples import Examples, format_json, read_choices, to_json
from codegen.reference.sections import find_sections, method_file, topic_file
from codegen.reference.texts import TypeTexts, description, first_sentence, presence
from codegen.regen import read_schema

_TEMPLATES = Templates(
    Path(__file__).with_name("templates"),
    {
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


def reference(schema_folder: Path) -> dict[str, str]:
    """Return the pages about the pinned schemas, by the names of their files.

    Raises:
        SchemaError: a schema has something that the generator has no rule for.
    """
    profiles = {
        pinned.profile: Snapshot(
            pinned.profile.file, pinned.schema, read_schema(pinned.schema, pinned.profile.own_tables)
        )
        for pinned in load(schema_folder, pinned=True)
    }
    return {f"{name}.md": text for name, text in reference_pages(profiles).items()}


def reference_pages(profiles: Mapping[Profile, Snapshot]) -> dict[str, str]:
    """Return all pages by name: about the first profile, and about how the other profiles differ from it."""
    profile, *others = profiles
    schema = profiles[profile].schema
    topics, examples = read_topics(), Examples(schema, read_choices())
    sections = find_sections(schema, topics, examples)
    common = {
        "other_role": OTHER_ROLE,
        "texts": TypeTexts({name: section.target for name, section in sections.items()}),
    }
    pages: dict[str, str] = {}

    def add(name: str, template: str, **values: Any) -> None:
        values["sections"] = [section for section in sections.values() if section.file == name]
        pages[name] = _TEMPLATES.render(f"{template}.md.jinja", **common, **values)

    used = [topic for topic in topics if any(section.file == topic_file(topic) for section in sections.values())]
    add("index", "index", profile=profile, others=others, methods=schema.methods, topics=used, types=sections)
    blocks = write_blocks(profile.name, schema, examples)
    for method in schema.methods:
        values = _write_messages(method, examples) | {"stubs": StubDocs(schema), "blocks": blocks}
        add(method_file(method), "method", method=method, **values)
    for topic in used:
        add(topic_file(topic), "types", topic=topic)
    for other in others:
        base = next((profile for profile in profiles if other.name == f"{profile.name}_unstable"), profile)
        differences = _find_differences(profiles[base], profiles[other])
        add(f"profile_{other.name}", "profile", profile=other, base=base.name, differences=differences)
    return pages


def _write_messages(method: Method, examples: Examples) -> dict[str, str]:
    message: dict[str, Any] = {"jsonrpc": "2.0"} | ({"id": 1} if method.result else {})
    request = {**message, "method": method.wire, "params": to_json(examples.make(method.params))}
    response = format_json({**message, "result": to_json(examples.make(method.result))}) if method.result else ""
    return {"request": format_json(request), "response": response}


def _find_differences(base: Snapshot, head: Snapshot) -> dict[str, Any]:
    """Return how a profile differs from another: methods and types that only one of them has, and changes.

    They are compared as if `head` were a later release of `base`.
    """
    old_types, new_types = (side.schema.definitions.keys() - side.schema.envelopes for side in (base, head))
    old, new = ({method.wire: method for method in side.schema.methods} for side in (base, head))
    report = compare(Side("", "", {"v1": base}), Side("", "", {"v1": head}))
    both = (old_types & new_types) | (old.keys() & new.keys())
    return {
        "new_methods": [method for wire, method in new.items() if wire not in old],
        "missing_methods": [wire for wire in old if wire not in new],
        "new_types": sorted(new_types - old_types),
        "missing_types": sorted(old_types - new_types),
        "changes": [finding for finding in report.findings if finding.place in both],
    }
