"""The modules of the models: one for each topic, and the package that loads them.

datamodel-code-generator makes each class and alias from a JSON Schema, with our templates for the layout. They get as
text what it has no word for: markers, tags, results of factories, a second base, docstrings.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from codegen.data.topics import Topic, find_topics, read_topics
from codegen.emit.json_schema import BASE, imported, json_schema
from codegen.emit.order import in_order, recursive_fields
from codegen.emit.rendering import Templates
from codegen.escaping import quoted
from codegen.ir import Alias, Definition, Field, Model, Schema, Union
from codegen.read.docs import Docs, shared_descriptions
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
_MADE: dict[str, str] = {}


def model_files(schema: Schema) -> Files:
    """Return the files of the package of models by their paths, each with its template and the values for it."""
    topics = _in_topics(schema)
    sources = write_definitions(schema, [name for names in topics.values() for name in names])
    exported = {topic.name: sorted(names) for topic, names in topics.items()}
    about: dict[str, Any] = {"topics": exported, "descriptions": shared_descriptions(schema)}
    files: Files = {"models/__init__.py": ("models.py.jinja", about)}
    for topic, names in topics.items():
        used = {each for name in names for each in (*schema.uses(name), *_called(schema.definitions[name]))}
        values: dict[str, Any] = {
            "topic": topic,
            "exported": exported[topic.name],
            "imported": {other.name: sorted(used.intersection(own)) for other, own in topics.items() if other != topic},
            "body": "\n\n\n".join(sources[name] for name in names),
            "rebuilt": [name for name in names if _is_recursive(schema, name)],
        }
        files[f"models/{topic.name}.py"] = ("topic.py.jinja", values)
    return files


def _in_topics(schema: Schema) -> dict[Topic, list[str]]:
    """Return the definitions of each topic in the order of its module. Topics without definitions are left out."""
    topics = read_topics()
    places = find_topics(schema, topics)
    own = {topic: [name for name in schema.definitions if places.get(name) == topic] for topic in topics}
    return {topic: in_order(schema, names) for topic, names in own.items() if names}


def _called(definition: Definition) -> Iterator[str]:
    """Yield the models that the defaults of a definition are made of."""
    for field in definition.fields if isinstance(definition, Model) else ():
        yield from field.calls


def _is_recursive(schema: Schema, name: str) -> bool:
    """Return whether a definition is a model with an annotation that is a string, its own or one of a base."""
    if not isinstance(schema.definitions[name], Model):
        return False
    return any(recursive_fields(schema, each) for each in (name, *schema.bases(name)))


def write_definitions(schema: Schema, names: list[str]) -> dict[str, str]:
    """Return the source of the classes and aliases by name."""
    templates = Templates(_FOLDER)
    for template, known in _TEMPLATES.items():
        templates.check(template, known)
    docs = Docs(schema)
    definitions = [schema.definitions[name] for name in names]
    texts = {definition.name: _data(schema, docs, definition) for definition in definitions}
    sources = _generate([_given(schema, definition) for definition in definitions], texts)
    for definition in definitions:
        if not isinstance(definition, Model):
            sources[definition.name] += f"\n{docs.source(docs.of(definition), 0)}"
    return sources


def _generate(definitions: list[Definition], texts: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return what datamodel-code-generator and our templates make of these definitions, by name.

    Profiles share most of them, and those that were made before are only imported.
    """
    schema = json_schema(definitions)
    # A field named `list` changes how all definitions write the built-in.
    hides_list = any(field.name == "list" for each in definitions if isinstance(each, Model) for field in each.fields)
    made = {} if hides_list else _MADE
    keys = {each.name: json.dumps([each.name, schema["$defs"][each.name], texts[each.name]]) for each in definitions}
    schema["$defs"] |= {name: imported("models", name) for name, key in keys.items() if key in made}
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
    parts = (part.partition("\n") for part in str(source).split(f"\n{_BEGIN}")[1:])
    made.update({keys[name]: text.rstrip() for name, _, text in parts})
    return {name: made[key] for name, key in keys.items()}


def _given(schema: Schema, definition: Definition) -> Definition:
    """Return a definition without the types that datamodel-code-generator would write in another way.

    They are those that lead back to the definition, and that of a field which hides the built-in `list`.
    """
    if not isinstance(definition, Model):
        return definition
    hidden = ("list", *recursive_fields(schema, definition.name))
    fields = (replace(each, type=ANY) if each.name in hidden else each for each in definition.fields)
    return replace(definition, fields=tuple(fields))


def _data(schema: Schema, docs: Docs, definition: Definition) -> dict[str, Any]:
    """Return the texts for the template of a definition."""
    if isinstance(definition, Union):
        return {"annotation": "", "marker": definition.marker}
    if isinstance(definition, Alias):
        return {"annotation": definition.type.annotation if definition.type.is_marked else "", "marker": ""}
    recursive = recursive_fields(schema, definition.name)
    return {
        "bases": f"{definition.base}, OpenModel" if _has_second_base(schema, definition) else "",
        "doc": docs.source(docs.of(definition), 4),
        "texts": {each.name: _field_texts(each, docs, each.name in recursive) for each in definition.fields},
    }


def _has_second_base(schema: Schema, model: Model) -> bool:
    return model.base is not None and model.is_open and not schema.model(model.base).is_open


def _field_texts(field: Field, docs: Docs, is_recursive: bool) -> dict[str, str]:
    """Return the texts for a field: its whole annotation, if that has markers inside or is a string."""
    annotation = field.annotation
    is_text = field.type.is_marked or field.name == "list"
    return {
        "annotation": quoted(annotation) if is_recursive else annotation if is_text else "",
        "markers": field.written_markers,
        "assigned": field.assigned,
        "doc": docs.source(docs.of_field(field), 4),
    }
