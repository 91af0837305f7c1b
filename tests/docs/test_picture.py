"""The picture of a turn is what its script draws from a real turn, and shows code of the agent that ran."""

from __future__ import annotations

import inspect
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "picture.py"))


async def test_the_picture_shows_the_messages_of_the_turn(script: dict[str, Any], tmp_path: Path) -> None:
    drawn = script["draw"](await script["record"](tmp_path))
    assert script["PICTURE"].read_text("utf-8") == drawn, "Run `python docs/picture.py`."


def test_the_picture_shows_code_that_ran(script: dict[str, Any]) -> None:
    source = inspect.getsource(script["PoetAgent"].session_prompt)
    assert [code for _, code in script["CODE"].values() if code not in source] == []
