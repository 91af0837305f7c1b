"""The modules of models import each other in one direction only, and have annotations that are no strings."""

from __future__ import annotations

import ast
import tomllib

import pytest

from tests.support.models.modules import PROFILES, topics, tree
from tools.paths import ROOT

ORDER = [topic["name"] for topic in tomllib.loads((ROOT / "codegen/topics.toml").read_text("utf-8"))["topics"]]

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
