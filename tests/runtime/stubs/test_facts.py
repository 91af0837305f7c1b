"""Facts about places in messages."""

from __future__ import annotations

from typing import Any

from acp_runtime.stubs.facts import Absolute, Needs, Unsupported


def test_the_error_for_a_missing_capability_names_the_part_that_needs_it() -> None:
    part, whole = (Needs(place, "image").guard_error("session/prompt", None) for place in ("prompt.image", ""))
    assert str(part).startswith("session/prompt with prompt.image needs 'image'")
    assert str(whole).startswith("session/prompt needs 'image'")


def test_facts_of_different_kinds_are_never_equal() -> None:
    facts = [Needs("type.a", "prompt.a"), Needs("type.a", ""), Absolute("type.a", True), Unsupported("type.a")]
    assert len(set[Any](facts)) == len(facts)
