"""Generated classes and aliases have upstream's names, none that depend on position, and are exported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.support.models.modules import PROFILES, aliases, classes, definitions, names, raw_schema, topics, tree

STUBS = {"Agent", "Client", "RemoteAgent", "RemoteClient"}
CONNECTING = {
    *("serve", "serve_stdio", "serve_streams"),
    *("connect", "connect_in_process", "connect_streams", "spawn_agent"),
}
WHOLE_MESSAGE = re.compile("(Agent|Client|ProtocolLevel|Proxy)(Request|Notification|Response(Result|Error)?)")
OWN_EXPORTS = {"PROTOCOL_VERSION", "SCHEMA"} | STUBS | CONNECTING

every_profile = pytest.mark.parametrize("profile", PROFILES)


def _defined(profile: str) -> set[str]:
    return {*classes(profile), *aliases(profile)}


def _homes(profile: str) -> dict[str, str]:
    """Return the module of each definition."""
    return {
        node.name if isinstance(node, ast.ClassDef) else names(node.target)[0]: topic
        for topic in topics(profile)
        for node in tree(profile, f"models/{topic}").body
        if isinstance(node, (ast.ClassDef, ast.AnnAssign))
    }


def _exported(profile: str) -> list[str]:
    return list(import_module(f"acp_bindings.{profile}").__all__)


def _listed(profile: str, module: str) -> list[str]:
    """Return the names in the `__all__` of a module, as type checkers see it."""
    for node in tree(profile, module).body:
        if isinstance(node, ast.Assign) and names(node.targets[0]) == ["__all__"]:
            return list(ast.literal_eval(node.value))
    raise AssertionError(f"{module} has no __all__")


def _imported(profile: str, module: str) -> set[tuple[str | None, str, str | None]]:
    """Return what a module imports from modules beside it: their names, the names in them, and the names here."""
    return {
        (node.module, alias.name, alias.asname)
        for node in ast.walk(tree(profile, module))
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }


def _upstream_labels(schema: Any) -> Iterator[str]:
    """Yield the names that upstream uses: definitions, tags and titles."""
    if isinstance(schema, dict):
        yield from schema.get("$defs", ())
        for keyword in ("const", "title"):
            if isinstance(schema.get(keyword), str):
                yield schema[keyword]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _upstream_labels(part)


@every_profile
def test_every_definition_of_the_schema_but_whole_messages_is_a_class_or_an_alias(profile: str) -> None:
    left_out = set(raw_schema(profile)["$defs"]) - _defined(profile)
    assert {name for name in left_out if not WHOLE_MESSAGE.fullmatch(name)} == set()
    assert not any(WHOLE_MESSAGE.fullmatch(name) for name in _defined(profile))


@every_profile
def test_no_name_is_defined_twice(profile: str) -> None:
    nodes = [node for node in definitions(profile) if isinstance(node, (ast.ClassDef, ast.AnnAssign))]
    assert len(_defined(profile)) == len(nodes)


@every_profile
def test_a_digit_in_a_name_comes_from_upstream(profile: str) -> None:
    labels = {re.sub(r"[^a-z0-9]", "", label.lower()) for label in _upstream_labels(raw_schema(profile))}
    with_digits = sorted((label for label in labels if re.search(r"\d", label)), key=len, reverse=True)
    positional: list[str] = []
    for name in _defined(profile):
        rest = name.lower()
        for label in with_digits:
            rest = rest.replace(label, "")
        positional += [name] if re.search(r"\d", rest) else []
    assert positional == []


@every_profile
def test_all_lists_the_stubs_and_every_class_and_alias(profile: str) -> None:
    exported = _exported(profile)
    assert len(exported) == len(set(exported))
    assert set(exported) == _defined(profile) | OWN_EXPORTS


@every_profile
def test_type_checkers_see_every_exported_name(profile: str) -> None:
    imported = _imported(profile, "__init__")
    assert {name for _, name, other in imported if name == other} == OWN_EXPORTS - {"SCHEMA"}
    assert {module for module, name, _ in imported if name == "*"} == {"models"}


@every_profile
def test_every_exported_name_can_be_imported(profile: str) -> None:
    package = import_module(f"acp_bindings.{profile}")
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


@every_profile
def test_models_has_every_class_and_alias_of_its_modules(profile: str) -> None:
    package, models = import_module(f"acp_bindings.{profile}"), import_module(f"acp_bindings.{profile}.models")
    assert set(models.__all__) == _defined(profile)
    assert _defined(profile) <= set(dir(models))
    assert [name for name in _defined(profile) if getattr(models, name) is not getattr(package, name)] == []


@every_profile
def test_type_checkers_see_every_name_of_models(profile: str) -> None:
    assert _imported(profile, "models/__init__") == {(topic, "*", None) for topic in topics(profile)}
    listed = {name: topic for topic in topics(profile) for name in _listed(profile, f"models/{topic}")}
    assert listed == _homes(profile)


def test_star_imports_of_models_give_its_public_names() -> None:
    namespace: dict[str, Any] = {}
    exec("from acp_bindings.v1.models import *", namespace)
    assert namespace["ContentBlockText"] is import_module("acp_bindings.v1").ContentBlockText
