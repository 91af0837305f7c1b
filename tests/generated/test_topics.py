"""The modules of models import each other in one direction only, and have annotations that are no strings."""

from __future__ import annotations

import ast
import tomllib

import pytest

from tests.support.models.modules import PROFILES, aliases, classes, fields, names, topics, tree
from tests.support.paths import ROOT

ORDER = [each["name"] for each in tomllib.loads((ROOT / "codegen/topics.toml").read_text("utf-8"))["topics"]]

every_profile = pytest.mark.parametrize("profile", PROFILES)


def _imported(profile: str, topic: str) -> set[str]:
    """Return the other modules of models that a module imports from."""
    return {
        node.module or ""
        for node in ast.walk(tree(profile, f"models/{topic}"))
        if isinstance(node, ast.ImportFrom) and node.level
    }


@every_profile
def test_a_module_imports_only_from_earlier_topics(profile: str) -> None:
    assert set(topics(profile)) <= set(ORDER)
    for topic in topics(profile):
        assert _imported(profile, topic) <= set(ORDER[: ORDER.index(topic)])


@every_profile
def test_no_other_topic_needs_elicitation(profile: str) -> None:
    assert [topic for topic in topics(profile) if "elicitation" in _imported(profile, topic)] == []


@every_profile
def test_no_annotation_is_a_string_unless_the_class_contains_itself(profile: str) -> None:
    for topic in topics(profile):
        body = tree(profile, f"models/{topic}").body
        assert not [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    annotations = [(name, each) for name, node in classes(profile).items() for _, each in fields(node)]
    assert len(annotations) > 300
    quoted = [(name, str(each.value)) for name, each in annotations if isinstance(each, ast.Constant) and each.value]
    assert [name for name, text in quoted if name not in _contained(profile, text)] == []


def _contained(profile: str, annotation: str) -> set[str]:
    """Return the classes and aliases that an annotation consists of, directly or not."""
    parts: dict[str, list[ast.expr]] = {name: [each] for name, each in aliases(profile).items()}
    parts |= {name: [*node.bases, *(each for _, each in fields(node))] for name, node in classes(profile).items()}
    waiting, found = [ast.parse(annotation, mode="eval").body], set[str]()
    while waiting:
        part = waiting.pop()
        text = part.value if isinstance(part, ast.Constant) else None
        part = ast.parse(text, mode="eval").body if isinstance(text, str) else part
        new = {each for each in names(part) if each in parts} - found
        found |= new
        waiting += [each for name in new for each in parts[name]]
    return found
