"""Writes the modules of the models: one for each topic, and the package that loads them.

datamodel-code-generator writes the modules from a JSON Schema, with our templates. What it doesn't support, the
templates get as text: markers, tags, mutable defaults, a second base, docstrings.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from codegen.data.topics import Topic, find_topics, read_topics
from codegen.emit.json_schema import BASE, write_json_schema
from codegen.emit.rendering import Templates
from codegen.errors import SchemaError
from codegen.escaping import docstring, python_literal
from codegen.ir import Alias, Definition, Field, Model, Schema, Union
from codegen.types import ANY, Type, union_of

Files: TypeAlias = dict[str, tuple[str, dict[str, Any]]]

_FOLDER = Path(__file__).with_name("templates")
# The templates that datamodel-code-generator renders, and the names that they use.
_TEMPLATES = {
    "pydantic_v2/BaseModel.jinja2": {"class_name", "base_class", "second_base", "fields", "doc", "texts"},
    "TypeAliasType.jinja2": {"class_name", "base_class", "fields", "annotation", "marker", "doc"},
}
# Nearly every object has the property `_meta` with the same description, which is written once, in the package's
# module. Where `_meta` has no description, a sentence says so, so that the output changes if upstream drops one.
_META = "_meta"
_META_BEGINNING = "The _meta property is reserved"
_UNDESCRIBED = "Upstream does not describe it here."


def write_model_files(schema: Schema) -> Files:
    """Return the files of the package of models by path: the template of each, and the values for it."""
    topics = _group_by_topic(schema)
    sources = _write_modules(schema, {topic.name: names for topic, names in topics.items()})
    exported = {topic.name: sorted(names) for topic, names in topics.items()}
    models = (definition for definition in schema.definitions.values() if isinstance(definition, Model))
    shared_docs = dict.fromkeys(
        field.doc for model in models for field in model.fields if _has_shared_description(field)
    )
    files: Files = {"models/__init__.py": ("models.py.jinja", {"topics": exported, "descriptions": list(shared_docs)})}
    for topic, names in topics.items():
        values: dict[str, Any] = {
            "topic": topic,
            "exported": exported[topic.name],
            "source": sources[topic.name],
            "rebuilt": [name for name in names if _needs_rebuild(schema, name)],
        }
        files[f"models/{topic.name}.py"] = ("topic.py.jinja", values)
    return files


def _group_by_topic(schema: Schema) -> dict[Topic, list[str]]:
    """Return the definitions of each topic, in the order of its module. Topics without definitions are left out."""
    topics = read_topics()
    topic_of = find_topics(schema, topics)
    grouped = {topic: [name for name in schema.definitions if topic_of.get(name) == topic] for topic in topics}
    return {topic: _sort_by_use(schema, names) for topic, names in grouped.items() if names}


def _needs_rebuild(schema: Schema, name: str) -> bool:
    """Return whether a model or one of its bases refers to itself, so that some annotations are strings."""
    models = (name, *schema.bases(name)) if isinstance(schema.definitions[name], Model) else ()
    return any(model in schema.reachable(schema.uses(model)) for model in models)


def _sort_by_use(schema: Schema, names: list[str]) -> list[str]:
    """Return definitions in their order, except that a definition comes after those that it refers to."""
    ordered: dict[str, None] = {}
    visited: set[str] = set()

    def visit(name: str) -> None:
        if name in names and name not in visited:
            visited.add(name)
            for used in schema.uses(name):
                visit(used)
            ordered[name] = None

    for name in names:
        visit(name)
    return list(ordered)


def _write_modules(schema: Schema, modules: dict[str, list[str]]) -> dict[str, str]:
    """Return the source of each module, from the names of its definitions."""
    # Imported here because `diff` doesn't need it.
    from datamodel_code_generator import InputFileType, LiteralType, generate
    from datamodel_code_generator.enums import DataModelType
    from datamodel_code_generator.format import PythonVersion

    templates = Templates(_FOLDER)
    for template, allowed in _TEMPLATES.items():
        templates.check(template, allowed)
    paths = {name: f"{module}.{name}" for module, names in modules.items() for name in names}
    definitions = [schema.definitions[name] for name in paths]
    texts = {paths[definition.name]: _write_template_texts(schema, definition) for definition in definitions}
    sources = generate(
        write_json_schema((_simplify(schema, definition) for definition in definitions), paths),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        base_class=BASE,
        custom_template_dir=_FOLDER,
        extra_template_data=defaultdict(dict, texts),
        custom_file_header="\n",
        disable_future_imports=True,
        enum_field_as_literal=LiteralType.All,
        formatters=[],
        strict_nullable=True,
        treat_dot_as_module=True,
        use_exact_imports=True,
        use_type_alias=True,
    )
    assert isinstance(sources, dict)
    return {module: sources[f"{module}.py",] for module in modules}


def _write_template_texts(schema: Schema, definition: Definition) -> dict[str, Any]:
    """Return the texts that the template of a definition needs."""
    doc = schema.own_doc(definition)
    if isinstance(definition, Union):
        return {"annotation": "", "marker": definition.marker, "doc": _docstring(doc, 0)}
    if isinstance(definition, Alias):
        annotation = definition.type.annotation if definition.type.is_marked else ""
        return {"annotation": annotation, "marker": "", "doc": _docstring(doc, 0)}
    texts = {field.name: _write_field_texts(schema, definition, field) for field in definition.fields}
    return {
        "second_base": "OpenModel" if _has_second_base(schema, definition) else "",
        "doc": _docstring(doc, 4),
        "texts": texts,
    }


def _has_second_base(schema: Schema, model: Model) -> bool:
    return model.base is not None and model.is_open and not schema.model(model.base).is_open


def _write_field_texts(schema: Schema, model: Model, field: Field) -> dict[str, str]:
    """Return the texts that the template needs for a field."""
    doc = field.doc or (_UNDESCRIBED if field.wire == _META else "")
    return {
        "annotation": _write_annotation(schema, model, field),
        "markers": field.annotation_markers,
        "assignment": field.assignment,
        "doc": "" if _has_shared_description(field) else _docstring(doc, 4),
    }


def _write_annotation(schema: Schema, model: Model, field: Field) -> str:
    """Return the annotation of a field that datamodel-code-generator can't write; empty for other fields.

    Raises:
        SchemaError: a field named `list` hides the built-in, which the annotation of a recursive field needs.
    """
    if model.name in schema.reachable(field.type.names):
        if any(other.name == "list" for other in model.fields):
            raise SchemaError(
                model.pointer,
                f"There is no rule for the property `list` of a definition that contains itself, {model.name}.",
            )
        return python_literal(field.annotation)
    return field.annotation if field.type.is_marked or field.name == "list" else ""


def _simplify(schema: Schema, definition: Definition) -> Definition:
    """Return a definition as datamodel-code-generator gets it.

    Fields whose annotation we write have only the types that the module must import.
    """
    if not isinstance(definition, Model):
        return definition
    return replace(definition, fields=tuple(_simplify_field(schema, definition, field) for field in definition.fields))


def _simplify_field(schema: Schema, model: Model, field: Field) -> Field:
    if not _write_annotation(schema, model, field):
        return field
    imported = [name for name in field.type.names if model.name not in schema.reachable([name])]
    return replace(field, type=union_of([ANY, *(Type("ref", name) for name in imported)]))


def _has_shared_description(field: Field) -> bool:
    return field.wire == _META and field.doc.startswith(_META_BEGINNING)


def _docstring(text: str, indent: int) -> str:
    return docstring(text, indent) if text else ""
