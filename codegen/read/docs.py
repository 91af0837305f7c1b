"""Upstream's descriptions as docstrings, each said once."""

from __future__ import annotations

from typing import Any

from codegen.ir import Definition, Field, Model, Schema

# Nearly every object has this key, described in words that begin like this. They are said once, at the end of the
# module; a place that has none says so, so that nothing is lost unseen.
_SAID_ONCE, _BEGINNING = "_meta", "The _meta property is reserved"
_NOT_SAID = "Upstream does not describe it here."


class Docs:
    """Which description is written where, for one schema. What stands at a definition depends on it alone."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def of(self, definition: Definition) -> str:
        """A definition's own description; none where its base has said the same."""
        base = definition.base if isinstance(definition, Model) else None
        return "" if base and self._schema.definitions[base].doc == definition.doc else definition.doc

    def source(self, text: str, indent: int) -> str:
        return docstring(text, indent)

    def of_field(self, field: Field) -> str:
        if field.wire != _SAID_ONCE:
            return field.doc
        return "" if _is_said_once(field) else field.doc or _NOT_SAID


def _is_said_once(field: Field) -> bool:
    return field.wire == _SAID_ONCE and field.doc.startswith(_BEGINNING)


def shared_descriptions(schema: Schema) -> list[str]:
    """What upstream says of no definition in particular, or of nearly all: each text once, and what it is about."""
    about: dict[str, list[str]] = {}
    models = [each for each in schema.definitions.values() if isinstance(each, Model)]
    for text in (field.doc for model in models for field in model.fields if _is_said_once(field)):
        about[text] = [f"`{_SAID_ONCE}`, which is `meta` here"]
    for subject, text in schema.message_docs.items():
        about.setdefault(text, []).append(subject)
    return [f"{', '.join(subjects)}: {text}".rstrip(": ") for text, subjects in about.items()]


def member_docs(schema: Any) -> list[str]:
    """What upstream says about the members of a union that has no classes of its own, and about items."""
    lines: list[str] = []
    for member in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        lines += _line(_label(member), member) + member_docs(member)
    for keyword in ("items", "additionalProperties"):
        item: Any = schema.get(keyword)
        if isinstance(item, dict):
            lines += _line(" ".join(["Each", *_title(item)]), item) + member_docs(item)
    return lines


def _line(label: str, schema: Any) -> list[str]:
    text = schema.get("description", "")
    return [f"\n{': '.join(part for part in (label, text) if part)}"] if text or "title" in schema else []


def with_member_docs(doc: str, schema: Any) -> str:
    return "\n".join([doc, *member_docs(schema)]).strip()


def _label(member: Any) -> str:
    """A member by its constant, its title or both; a group of members needs no name."""
    constant = [f"`{member['const']}`"] if "const" in member else []
    names = " ".join([*constant, *_title(member)])
    return names or ("" if "anyOf" in member else "Other values")


def _title(schema: Any) -> list[str]:
    """A title, unless the description begins with it."""
    title = schema.get("title")
    return [f"`{title}`"] if title and not schema.get("description", "").startswith(f"**{title}**") else []


def comment(text: str) -> str:
    """A text as the source of a comment."""
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def docstring(text: str, indent: int) -> str:
    """A text as the source of a docstring, at an indentation."""
    text = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if text.endswith('"'):
        text = text[:-1] + '\\"'
    lines = [line.rstrip() for line in text.splitlines()]
    padded = [lines[0], *(" " * indent + line if line else "" for line in lines[1:])]
    end = "\n" + " " * indent if len(lines) > 1 else ""
    return f'"""{chr(10).join(padded)}{end}"""'
