"""`Any` is used where the schema has no type, and nowhere else.

The tests read the raw schema, independently of the generator.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from acp_runtime.models.json_values import wire_name
from tests.support.models.modules import PROFILES, aliases, classes, fields, names, raw_schema

VARIANTS = ("anyOf", "oneOf", "allOf")

every_profile = pytest.mark.parametrize("profile", PROFILES)


def _untyped(schema: Any) -> int:
    """Count the places in a schema without a type. A reference has a type, even if its definition has none."""
    if "$ref" in schema or "const" in schema or "enum" in schema:
        return 0
    variants = [member for keyword in VARIANTS for member in schema.get(keyword, ())]
    if variants:
        return sum(map(_untyped, variants))
    declared = schema.get("type")
    if declared is None:
        return 1
    if "array" in declared:
        return _untyped(schema["items"])
    if "object" in declared and "properties" not in schema:
        values = schema.get("additionalProperties", True)
        return 1 if values is True else _untyped(values)
    return 0


def _properties(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield every property in a schema, at any depth, with its own schema."""
    if isinstance(schema, dict):
        result = schema.get("properties", {})
        yield from result.items()
        schema = [*result.values(), *(value for key, value in schema.items() if key != "properties")]
    if isinstance(schema, list):
        for part in schema:
            yield from _properties(part)


def _untyped_by_key(profile: str) -> dict[str, set[int]]:
    counts: dict[str, set[int]] = defaultdict(set)
    for key, schema in _properties(raw_schema(profile)):
        counts[key].add(_untyped(schema))
    return counts


def _anys(annotation: ast.expr) -> int:
    return names(annotation).count("Any")


@every_profile
def test_a_field_of_a_definition_is_any_exactly_where_the_schema_has_no_type(profile: str) -> None:
    definitions = raw_schema(profile)["$defs"]
    wrong: list[str] = []
    checked = 0
    for name, node in classes(profile).items():
        described = definitions.get(name, {}).get("properties", {})
        for field, annotation in fields(node):
            if wire_name(field) in described:
                checked += 1
                wrong += [f"{name}.{field}"] if _anys(annotation) != _untyped(described[wire_name(field)]) else []
    assert wrong == []
    assert checked > 200


@every_profile
def test_a_field_of_a_union_member_is_any_only_without_a_type(profile: str) -> None:
    counts = _untyped_by_key(profile)
    wrong = [
        f"{name}.{field}"
        for name, node in classes(profile).items()
        for field, annotation in fields(node)
        if _anys(annotation) not in counts[wire_name(field)]
    ]
    assert wrong == []


@every_profile
def test_an_alias_is_any_only_where_its_definition_has_no_type(profile: str) -> None:
    definitions = raw_schema(profile)["$defs"]
    wrong = [
        name
        for name, value in aliases(profile).items()
        if _anys(value) and _anys(value) != _untyped(definitions.get(name, {"type": "string"}))
    ]
    assert wrong == []


@every_profile
@pytest.mark.parametrize("role", ["agent", "client"])
def test_a_keyword_of_a_proxy_is_any_only_where_the_schema_has_no_type(profile: str, role: str) -> None:
    counts = _untyped_by_key(profile)
    remote = classes(profile, role)[f"Remote{role.capitalize()}"]
    keywords = [
        (method.name, keyword)
        for method in remote.body
        if isinstance(method, ast.AsyncFunctionDef)
        for keyword in method.args.kwonlyargs
    ]
    wrong = [
        f"{method}({keyword.arg})"
        for method, keyword in keywords
        if keyword.annotation is None or _anys(keyword.annotation) not in counts[wire_name(keyword.arg)]
    ]
    assert wrong == []
    assert len(keywords) > 20


@every_profile
@pytest.mark.parametrize("role", ["agent", "client"])
def test_a_handler_takes_and_returns_models_and_never_any(profile: str, role: str) -> None:
    handler = classes(profile, role)[role.capitalize()]
    methods = [statement for statement in handler.body if isinstance(statement, ast.AsyncFunctionDef)]
    for method in methods:
        assert method.returns is not None
        annotations = [
            method.returns,
            *(argument.annotation for argument in method.args.posonlyargs[1:] if argument.annotation),
        ]
        assert len(annotations) == 2
        assert "Any" not in [name for annotation in annotations for name in names(annotation)]
    assert len(methods) > 3
