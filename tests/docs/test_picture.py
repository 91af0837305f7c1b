"""The pictures of a turn are what their script draws from a real turn, and show code of the agent that ran."""

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


async def test_the_pictures_show_the_messages_of_the_turn(script: dict[str, Any], tmp_path: Path) -> None:
    arrows = await script["record"](tmp_path)
    for picture, layout in script["PICTURES"].items():
        assert picture.read_text("utf-8") == script["draw"](arrows, layout), "Run `python docs/picture.py`."


def test_every_code_line_fits_into_the_picture(script: dict[str, Any]) -> None:
    for layout in script["PICTURES"].values():
        character = 0.61 * float(layout.font.removesuffix("px"))  # the widest of usual monospaced fonts
        for indent, code in script["CODE"].values():
            assert layout.code_x + layout.indent * indent + character * len(code) <= layout.width


def test_the_picture_shows_code_that_ran(script: dict[str, Any]) -> None:
    source = inspect.getsource(script["PoetAgent"].session_prompt)
    assert [code for _, code in script["CODE"].values() if code not in source] == []
