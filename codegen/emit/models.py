"""The modules of the models: one for each topic, and the package that loads them.

datamodel-code-generator makes each class and alias from a JSON Schema, with our templates for the layout. They get as
text what it has no word for: markers, tags, results of factories, a second base, docstrings.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from codegen.data.topics import Topic, find_topics, read_topics
from codegen.emit.json_schema import BASE, import_from, write_json_schema
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
# The line that the templates write in front of each definition. No upstream text is at the beginning of a line there.
_BEGIN = "#:"
# The source of each definition that was made, by all that it is made from.
_SOURCES: dict[str, str] = {}
# Nearly every object has this key, with a description that begins like this. It is written once, at the end of the
# module. A place without a description is marked, so that the output changes if upstream drops a description.
_META, _META_BEGINNING = "_meta", "The _meta property is reserved"
_UNDESCRIBED = "Upstream does not describe it here."


def write_model_files(schema: Schema) -> Files:
    """Return the files of the package of models by their paths, each with its template and the values for it."""
    topics = _group_by_topic(schema)
    sources = write_definitions(schema, [name for names in topics.values() for name in names])
    exported = {topic.name: sorted(names) for topic, names in topics.items()}
    fields = (
        field
        for definition in schema.definitions.values()
        if isinstance(definition, Model)
        for field in definition.fields
    )
    shared = list(dict.fromkeys(field.doc for field in fields if _is_shared(field)))
    files: Files = {"models/__init__.py": ("models.py.jinja", {"topics": exported, "descriptions": shared})}
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
    """Return the definitions of each topic in the order of its module. Topics without definitions are left out."""
    topics = read_topics()
    places = find_topics(schema, topics)
    own = {topic: [name for name in schema.definitions if places.get(name) == topic] for topic in topics}
    return {topic: _sort_by_use(schema, names) for topic, names in own.items() if names}


def _is_recursive(schema: Schema, name: str) -> bool:
    """Return whether a definition is a model with an annotation that is a string, its own or one of a base."""
    if not isinstance(schema.definitions[name], Model):
        return False
    return any(_find_recursive_fields(schema, model) for model in (name, *schema.bases(name)))


def write_definitions(schema: Schema, names: list[str]) -> dict[str, str]:
    """Return the source of the classes and aliases by name."""
    templates = Templates(_FOLDER)
    for template, known in _TEMPLATES.items():
        templates.check(template, known)
    definitions = [schema.definitions[name] for name in names]
    texts = {definition.name: _template_texts(schema, definition) for definition in definitions}
    sources = _make_sources([_simplify(schema, definition) for definition in definitions], texts)
    for definition in definitions:
        if not isinstance(definition, Model):
            sources[definition.name] += f"\n{_docstring(schema.own_doc(definition), 0)}"
    return sources


def _make_sources(definitions: list[Definition], texts: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return what datamodel-code-generator and our templates make of these definitions, by name.

    Profiles share most of them, and those that were made before are only imported.
    """
    schema = write_json_schema(definitions)
    # A field named `list` changes how all definitions write the built-in.
    hides_list = any(
        field.name == "list"
        for definition in definitions
        if isinstance(definition, Model)
        for field in definition.fields
    )
    made = {} if hides_list else _SOURCES
    keys = {
        definition.name: json.dumps([definition.name, schema["$defs"][definition.name], texts[definition.name]])
        for definition in definitions
    }
    old = {name for name, key in keys.items() if key in made}
    if old != keys.keys():
        models = {definition.name: definition for definition in definitions if isinstance(definition, Model)}
        bases: set[str] = set()  # older releases can't import them
        for name in models.keys() - old:
            while base := models[name].base:
                bases.add(name := base)
        schema["$defs"] |= {name: import_from("models", name) for name in old - bases}
        parts = (part.partition("\n") for part in _run_generator(schema, texts).split(f"\n{_BEGIN}")[1:])
        made.update({keys[name]: text.rstrip() for name, _, text in parts})
    return {name: made[key] for name, key in keys.items()}


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
    """Return a definition without the types that datamodel-code-generator would write in another way.

    They are those that lead back to the definition, and that of a field which hides the built-in `list`.
    """
    if not isinstance(definition, Model):
        return definition
    hidden = ("list", *_find_recursive_fields(schema, definition.name))
    fields = (replace(field, type=ANY) if field.name in hidden else field for field in definition.fields)
    return replace(definition, fields=tuple(fields))


def _template_texts(schema: Schema, definition: Definition) -> dict[str, Any]:
    """Return the texts for the template of a definition."""
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
    """Return the texts for a field: its whole annotation, if that has markers inside or is a string."""
    annotation = field.annotation
    is_text = field.type.is_marked or field.name == "list"
    doc = field.doc or (_UNDESCRIBED if field.wire == _META else "")
    return {
        "annotation": python_literal(annotation) if is_recursive else annotation if is_text else "",
        "markers": field.annotation_markers,
        "assignment": field.assignment,
        "doc": "" if _is_shared(field) else _docstring(doc, 4),
    }


def _is_shared(field: Field) -> bool:
    """Return whether a field has the description of `_meta` that nearly every object has."""
    return field.wire == _META and field.doc.startswith(_META_BEGINNING)


def _docstring(text: str, indent: int) -> str:
    return docstring(text, indent) if text else ""


def _sort_by_use(schema: Schema, names: Iterable[str]) -> list[str]:
    """Return definitions in their order, but each after those that it consists of."""
    wanted = dict.fromkeys(names)
    done: dict[str, None] = {}
    for name in wanted:
        _visit(schema, name, wanted.keys(), done)
    return list(done)


def _visit(schema: Schema, name: str, wanted: Set[str], done: dict[str, None]) -> None:
    if name in wanted and name not in done:
        for used in _find_uses(schema, name):
            _visit(schema, used, wanted, done)
        done[name] = None


def _find_uses(schema: Schema, name: str) -> Iterator[str]:
    """Yield what has to be defined before a definition."""
    definition = schema.definitions[name]
    if not isinstance(definition, Model):
        yield from schema.uses(name)
        return
    yield from (definition.base,) if definition.base else ()
    recursive = _find_recursive_fields(schema, name)
    yield from (used for field in definition.fields if field.name not in recursive for used in field.type.names)


def _find_recursive_fields(schema: Schema, name: str) -> list[str]:
    """Return the names of a model's own fields whose types lead back to the model.

    Raises:
        SchemaError: another field hides a name that their annotations need.
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
