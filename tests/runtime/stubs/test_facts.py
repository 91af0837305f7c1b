"""Facts about places in messages."""

from __future__ import annotations

from acp_runtime.stubs.facts import Needs


def test_the_error_for_a_missing_capability_names_the_part_that_needs_it() -> None:
    part, whole = (Needs(place, "image").guard_error("session/prompt", None) for place in ("prompt.image", ""))
    assert str(part).startswith("session/prompt with prompt.image needs 'image'")
    assert str(whole).startswith("session/prompt needs 'image'")
