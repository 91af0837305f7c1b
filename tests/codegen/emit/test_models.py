"""datamodel-code-generator gives a definition the bases, annotations and defaults that the IR says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from codegen.__main__ import SCHEMA
from codegen.emit.models import write_model_files
from codegen.ir import Definition, Field, Model, Schema, Union
from codegen.pinned.pins import load
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, acp_schema, model
from tests.support.codegen.random_schemas import new_schema
from tests.support.models.modules import classes, definitions
from tests.support.scale import count

PINNED = {pinned.profile.name: pinned for pinned in load(SCHEMA, pinned=True)}


@pytest.mark.parametrize("name", PINNED)
def test_definitions_of_the_pinned_schemas_are_written_as_the_ir_says(name: str) -> None:
    schema, sources = read_schema(PINNED[name].schema, PINNED[name].profile.own_tables), committed(name)
    assert sources.keys() == schema.definitions.keys() - schema.envelopes
    compare(schema, sources)


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(count(3, 1000)))
def test_definitions_of_new_schemas_are_written_as_the_ir_says(seed: int) -> None:
    case = new_schema(seed)
    schema = read_schema(case.schema, case.profile.own_tables)
    sources = generated(schema)
    assert sources.keys() == schema.definitions.keys() - schema.envelopes
    compare(schema, sources)


def test_what_has_no_description_has_no_docstring() -> None:
    schema = read_schema(acp_schema({"Text": model(text=STRING)}), None)
    assert generated(schema)["Text"] == "class Text(Model):\n    text: Annotated[str | None, NotNull] = absent()"


def test_only_the_description_of_meta_is_left_out_because_all_models_share_it() -> None:
    described = {**STRING, "description": "The _meta property is reserved for extensions."}
    schema = read_schema(acp_schema({"Text": model(_meta=described, text=described)}), None)
    source = generated(schema)["Text"]
    assert source.count(described["description"]) == 1
    assert source.endswith(repr(described["description"]))


def committed(name: str) -> dict[str, str]:
    """Return the definitions in the models of a profile. `test_drift.py` checks that they are up to date."""
    aliases = [node for node in definitions(name) if isinstance(node, ast.AnnAssign)]
    result = {ast.unparse(node.target): ast.unparse(node) for node in aliases}
    return result | {key: ast.unparse(node) for key, node in classes(name).items()}


def generated(schema: Schema) -> dict[str, str]:
    """Return the definitions that datamodel-code-generator makes."""
    modules = [ast.parse(values["source"]) for _, values in write_model_files(schema).values() if "source" in values]
    nodes = [node for module in modules for node in module.body]
    aliases = {ast.unparse(node.target): ast.unparse(node) for node in nodes if isinstance(node, ast.AnnAssign)}
    return aliases | {node.name: ast.unparse(node) for node in nodes if isinstance(node, ast.ClassDef)}


def compare(schema: Schema, sources: dict[str, str]) -> None:
    for name, source in sources.items():
        written = "\n".join(expected(schema, schema.definitions[name]))
        assert without_texts(source) == without_texts(written), name


def expected(schema: Schema, definition: Definition) -> Iterator[str]:
    """Yield the lines of Python that the IR describes for a definition, without docstrings."""
    if not isinstance(definition, Model):
        marker = definition.marker if isinstance(definition, Union) else None
        kind = f"Annotated[{definition.type.hint}, {marker}]" if marker else definition.type.annotation
        yield f"{definition.name}: TypeAlias = {kind}"
        return
    is_open = definition.is_open and not (definition.base and schema.model(definition.base).is_open)
    bases = filter(None, (definition.base, "OpenModel" if is_open else "" if definition.base else "Model"))
    yield f"class {definition.name}({', '.join(bases)}):"
    yield from (f"    {field.name}: {field.annotation}{default(field)}" for field in definition.fields)
    yield "" if definition.fields else "    pass"


def default(field: Field) -> str:
    if field.assignment or not field.has_plain_default:
        return f" = {field.assignment}" if field.assignment else ""
    return f" = absent({'' if field.default is None else repr(field.default)})"


def without_texts(source: str) -> str:
    """Return code in one style, without docstrings and with annotations that are strings as code."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            node.body = [child for child in node.body if not isinstance(child, (ast.Expr, ast.Pass))]
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Constant):
            node.annotation = ast.parse(str(node.annotation.value), mode="eval").body
    return ast.unparse(tree).replace("list_aliased[", "list[")  # in the module of a class with the field `list`
