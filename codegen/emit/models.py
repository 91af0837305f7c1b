"""The modules of the models: one for each topic, and the package that loads them.

Our templates render the text of each definition. datamodel-code-generator gets these texts and an outline of the
definitions (their kinds, bases and fields), and writes all classes and aliases, which are divided among the modules.
"""

from __future__ import annotations

import ast
import builtins
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from codegen.emit.order import in_order, recursive_fields
from codegen.emit.rendering import Templates
from codegen.errors import FileError, SchemaError
from codegen.ir import Definition, Model, Schema
from codegen.read.docs import Docs, shared_descriptions
from codegen.read.topics import find_topics
from codegen.read.topics_file import Topic, read_topics
from codegen.read.types import quoted


@dataclass(frozen=True)
class Source:
    """The source of a definition, and the names in it."""

    text: str
    names: set[str]


Files: TypeAlias = dict[str, tuple[str, dict[str, Any]]]

_FOLDER = Path(__file__).with_name("templates")
_DEFINITIONS = Templates(_FOLDER, {"quoted": quoted})
# The templates of datamodel-code-generator. They insert the finished text of a definition.
_OUTLINE, _OUTLINE_NAMES = Templates(_FOLDER / "outline"), {"text"}
_CLASS, _ALIAS = "pydantic_v2/BaseModel.jinja2", "TypeAliasType.jinja2"


def model_files(schema: Schema) -> Files:
    """Return the files of the package of models by their paths, each with its template and the values for it."""
    topics = _in_topics(schema)
    sources = _sources(schema, [name for names in topics.values() for name in names])
    exported = {topic.name: sorted(names) for topic, names in topics.items()}
    about: dict[str, Any] = {"topics": exported, "descriptions": shared_descriptions(schema)}
    files: Files = {"models/__init__.py": ("models.py.jinja", about)}
    for topic, names in topics.items():
        used = {each for name in names for each in (*sources[name].names, *schema.uses(name))}
        values: dict[str, Any] = {
            "topic": topic,
            "imported": {other.name: sorted(used.intersection(own)) for other, own in topics.items() if other != topic},
            "body": "\n".join(sources[name].text for name in names),
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


def _is_recursive(schema: Schema, name: str) -> bool:
    """Return whether a definition is a model with an annotation that is a string, its own or one of a base."""
    if not isinstance(schema.definitions[name], Model):
        return False
    return any(recursive_fields(schema, each) for each in (name, *schema.bases(name)))


def _sources(schema: Schema, names: list[str]) -> dict[str, Source]:
    """Return the source of the classes and aliases by name, in this order."""
    from datamodel_code_generator import InputFileType, generate  # imported here because `diff` doesn't need it
    from datamodel_code_generator.enums import DataModelType
    from datamodel_code_generator.format import PythonVersion

    for template in (_CLASS, _ALIAS):
        _OUTLINE.check(template, _OUTLINE_NAMES)
    outline: dict[str, Any] = {name: _outline(schema.definitions[name]) for name in names}
    docs = Docs(schema)
    texts = {name: {"text": _definition(schema, docs, schema.definitions[name])} for name in names}
    source = generate(
        json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": outline}),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        custom_template_dir=_FOLDER / "outline",
        extra_template_data=defaultdict(dict, texts),
        custom_file_header="#",
        use_type_alias=True,
        skip_root_model=True,
        formatters=[],
    )
    return _divided(str(source), names)


def _definition(schema: Schema, docs: Docs, definition: Definition) -> str:
    """Return the source of a class or an alias."""
    if not isinstance(definition, Model):
        return _DEFINITIONS.render(_ALIAS, class_name=definition.name, docs=docs, alias=definition)
    return _DEFINITIONS.render(
        _CLASS,
        class_name=definition.name,
        docs=docs,
        model=definition,
        bases=_bases(schema, definition),
        recursive=recursive_fields(schema, definition.name),
    )


def _bases(schema: Schema, model: Model) -> str:
    """Return the bases of a class: the definition it wraps, and a base of the runtime unless that provides it."""
    if model.base is None:
        return "OpenModel" if model.is_open else "Model"
    return f"{model.base}, OpenModel" if model.is_open and not schema.model(model.base).is_open else model.base


def _outline(definition: Any) -> dict[str, Any]:
    """Return a definition as datamodel-code-generator needs it: its kind, base, and properties that hide a built-in.

    The texts of the definitions have all properties; each one here would only cost time.
    """
    if not isinstance(definition, Model):
        return {"type": "string"}
    hiding = [field.wire for field in definition.fields if hasattr(builtins, field.name)]
    own = {"type": "object", "properties": {wire: {"type": "string"} for wire in hiding}}
    return {"allOf": [{"$ref": f"#/$defs/{definition.base}"}], **own} if definition.base else own


def _divided(source: str, expected: list[str]) -> dict[str, Source]:
    """Return the source of each definition in a module. They must be the expected ones, in order."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        line = (error.text or "").strip()
        message = f"The templates of models give invalid Python: {line!r}. Correct them, or restore them with git."
        raise FileError("", message, "codegen/emit/templates") from error
    definitions = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.AnnAssign))]
    names = [node.name if isinstance(node, ast.ClassDef) else ast.unparse(node.target) for node in definitions]
    if names != expected:
        wrong = ", ".join(sorted(set(names) ^ set(expected))) or "their order"
        raise SchemaError("/$defs", f"datamodel-code-generator rendered other definitions than expected: {wrong}.")
    lines = source.splitlines()
    starts = [node.lineno - 1 for node in definitions]
    texts = ["\n".join(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return {
        name: Source(text, {each.id for each in ast.walk(node) if isinstance(each, ast.Name)})
        for name, text, node in zip(names, texts, definitions, strict=True)
    }
