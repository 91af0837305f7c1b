"""`acp_kit.versions` knows in which definitions the two versions differ."""

from __future__ import annotations

import json

from tests.kit.versions.schema_differences import NOTED, differences


def test_the_definitions_that_differ_are_the_translated_ones() -> None:
    noted, today = json.loads(NOTED.read_text("utf-8")), differences()
    changed = sorted(name for name in {*noted, *today} if noted.get(name) != today.get(name))
    assert not changed, (
        f"Version 1 and version 2 differ in another way in {', '.join(changed)}. Look whether kit/acp_kit/versions and "
        "the table in docs/guides/two-versions.md have to change, then run "
        "`python -m tests.kit.versions.schema_differences`."
    )
