"""Writes the modules of the models: one for each topic, and the package that loads them.

datamodel-code-generator makes each class and alias from a JSON Schema, with our templates. What it doesn't support, the
templates get as text: markers, tags, mutable defaults, a second base, docstrings.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from codegen.data.topics import Topic, find_topics, read_topics
from codegen.emit.json_schema import BASE, write_json_schema
from codegen.emit.rendering import Templates
from codegen.errors import SchemaError
from codegen.escaping import docstring, python_literal
from codegen.ir import Alias, Definition, Field, Model, Schema, Union
from codegen.types import ANY

Files: TypeAlias = dict[str, tuple[str, dict[str, Any]]]

_FOLDER = Path(__file__).with_name("templates")
# The templates that datamodel-code-generator renders, and the names that they use.
_TEMPLATES = {
    "pydantic_v2/BaseModel.jinja2": {"class_name", "base_class", "fields", "bases", "doc", "texts"},
    "TypeAliasType.jinja2": {"class_name", "base_class", "fields", "annotation", "marker"},
}
# The templates begin each definition with a line that starts with this. No text of upstream starts a line.
_BEGIN = "#:"
# Nearly every object has the property `_meta` with the same description, which is written once, in the package's
# module. Where `_meta` has no description, a sentence says so, so that the output changes if upstream drops one.
_META = "_meta"
_META_BEGINNING = "The _meta property is reserved"
_UNDESCRIBED = "Upstream does not describe it here."


def write_model_files(schema: Schema) -> Files:
    """Return the files of the package of models by path: the template of each, and the values for it."""
    topics = _group_by_topic(schema)
    sources = write_definitions(schema, [name for names in topics.values() for name in names])
    exported = {topic.name: sorted(names) for topic, names in topics.items()}
    models = (definition for definition in schema.definitions.values() if isinstance(definition, Model))
    shared_docs = dict.fromkeys(
        field.doc for model in models for field in model.fields if _has_shared_description(field)
    )
    files: Files = {"models/__init__.py": ("models.py.jinja", {"topics": exported, "descriptions": list(shared_docs)})}
    earlier: dict[str, list[str]] = {}
    for topic, names in topics.items():
        values: dict[str, Any] = {
            "topic": topic,
            "exported": exported[topic.name],
            "earlier": dict(earlier),
            "body": "\n\n\n".join(sources[name] for name in names),
            "rebuilt": [name for name in names if _is_recursive(schema, name)],
        }
        files[f"models/{topic.name}.py"] = ("topic.py.jinja", values)
        earlier[topic.name] = exported[topic.name]
    return files


def _group_by_topic(schema: Schema) -> dict[Topic, list[str]]:
    """Return the definitions of each topic, in the order of its module. Topics without definitions are left out."""
    topics = read_topics()
    topic_of = find_topics(schema, topics)
    grouped = {topic: [name for name in schema.definitions if topic_of.get(name) == topic] for topic in topics}
    return {topic: _sort_by_use(schema, names) for topic, names in grouped.items() if names}


def _is_recursive(schema: Schema, name: str) -> bool:
    """Return whether a model or one of its bases has a recursive field, whose annotation is a string."""
    if not isinstance(schema.definitions[name], Model):
        return False
    return any(_find_recursive_fields(schema, model) for model in (name, *schema.bases(name)))


def write_definitions(schema: Schema, names: list[str]) -> dict[str, str]:
    """Return the source of classes and aliases, by name."""
    templates = Templates(_FOLDER)
    for template, allowed in _TEMPLATES.items():
        templates.check(template, allowed)
    definitions = [schema.definitions[name] for name in names]
    texts = {definition.name: _template_texts(schema, definition) for definition in definitions}
    sources = _make_sources([_simplify(schema, definition) for definition in definitions], texts)
    for definition in definitions:
        if not isinstance(definition, Model):
            sources[definition.name] += f"\n{_docstring(schema.own_doc(definition), 0)}"
    return sources


def _make_sources(definitions: list[Definition], texts: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the source that datamodel-code-generator and our templates make of each definition, by name."""
    output = _run_generator(write_json_schema(definitions), texts)
    parts = (part.partition("\n") for part in output.split(f"\n{_BEGIN}")[1:])
    return {name: source.rstrip() for name, _, source in parts}


def _run_generator(schema: dict[str, Any], texts: dict[str, dict[str, Any]]) -> str:
    # Imported here because `diff` doesn't need it.
    from datamodel_code_generator import InputFileType, LiteralType, generate
    from datamodel_code_generator.enums import DataModelType
    from datamodel_code_generator.format import PythonVersion

    source = generate(
        json.dumps(schema),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        base_class=BASE,
        custom_template_dir=_FOLDER,
        extra_template_data=defaultdict(dict, texts),
        custom_file_header="#",
        enum_field_as_literal=LiteralType.All,
        strict_nullable=True,
        use_type_alias=True,
        skip_root_model=True,
        formatters=[],
    )
    return str(source)


def _simplify(schema: Schema, definition: Definition) -> Definition:
    """Return a definition without the types whose annotations our templates get as text.

    They are the types of recursive fields, and of a field named `list`, which hides the built-in.
    """
    if not isinstance(definition, Model):
        return definition
    replaced = ("list", *_find_recursive_fields(schema, definition.name))
    fields = (replace(field, type=ANY) if field.name in replaced else field for field in definition.fields)
    return replace(definition, fields=tuple(fields))


def _template_texts(schema: Schema, definition: Definition) -> dict[str, Any]:
    """Return the texts that the template of a definition needs."""
    if isinstance(definition, Union):
        return {"annotation": "", "marker": definition.marker}
    if isinstance(definition, Alias):
        return {"annotation": definition.type.annotation if definition.type.is_marked else "", "marker": ""}
    recursive = _find_recursive_fields(schema, definition.name)
    return {
        "bases": f"{definition.base}, OpenModel" if _has_second_base(schema, definition) else "",
        "doc": _docstring(schema.own_doc(definition), 4),
        "texts": {field.name: _write_field_texts(field, field.name in recursive) for field in definition.fields},
    }


def _has_second_base(schema: Schema, model: Model) -> bool:
    return model.base is not None and model.is_open and not schema.model(model.base).is_open


def _write_field_texts(field: Field, is_recursive: bool) -> dict[str, str]:
    """Return the texts that the template needs for a field, with its annotation if the generator can't write it."""
    annotation = ""
    if is_recursive:
        annotation = python_literal(field.annotation)
    elif field.type.is_marked or field.name == "list":
        annotation = field.annotation
    doc = field.doc or (_UNDESCRIBED if field.wire == _META else "")
    return {
        "annotation": annotation,
        "markers": field.annotation_markers,
        "assignment": field.assignment,
        "doc": "" if _has_shared_description(field) else _docstring(doc, 4),
    }


def _has_shared_description(field: Field) -> bool:
    return field.wire == _META and field.doc.startswith(_META_BEGINNING)


def _docstring(text: str, indent: int) -> str:
    return docstring(text, indent) if text else ""


def _sort_by_use(schema: Schema, names: Iterable[str]) -> list[str]:
    """Return definitions in their order, except that a definition comes after those that it refers to."""
    unsorted = dict.fromkeys(names)
    ordered: dict[str, None] = {}
    for name in unsorted:
        _visit(schema, name, unsorted.keys(), ordered)
    return list(ordered)


def _visit(schema: Schema, name: str, unsorted: Set[str], ordered: dict[str, None]) -> None:
    if name in unsorted and name not in ordered:
        for used in _find_uses(schema, name):
            _visit(schema, used, unsorted, ordered)
        ordered[name] = None


def _find_uses(schema: Schema, name: str) -> Iterator[str]:
    """Yield the definitions that must be defined before a definition."""
    definition = schema.definitions[name]
    if not isinstance(definition, Model):
        yield from schema.uses(name)
        return
    yield from (definition.base,) if definition.base else ()
    recursive = _find_recursive_fields(schema, name)
    yield from (used for field in definition.fields if field.name not in recursive for used in field.type.names)


def _find_recursive_fields(schema: Schema, name: str) -> list[str]:
    """Return the names of a model's own fields whose types refer to the model, directly or not.

    Raises:
        SchemaError: a field named `list` hides the built-in, which their annotations need.
    """
    definition = schema.definitions[name]
    fields = definition.fields if isinstance(definition, Model) else ()
    recursive = [field.name for field in fields if name in schema.reachable(field.type.names)]
    if recursive and any(field.name == "list" for field in fields):
        raise SchemaError(
            definition.pointer,
            f"There is no rule for the property `list` of a definition that contains itself, {name}.",
        )
    return recursive
