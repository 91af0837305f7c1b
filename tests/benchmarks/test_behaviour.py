"""The table of docs/which-sdk.md says what the SDKs do."""

from __future__ import annotations

import sys

import pytest

from benchmarks.behaviour import SDKS, measure, on_page, table
from tests.support.scale import STRESS
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError


# A pinned SDK doesn't change, so `make test` runs only ours.
@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.skipif(sys.platform == "win32", reason="the programs need POSIX")
@pytest.mark.parametrize("sdk", [each for each in SDKS if STRESS or each.startswith("acp-bindings")])
def test_the_page_says_what_the_sdk_does(sdk: str) -> None:
    try:
        measured = table({sdk: measure(sdk)})
    except UnavailableError as reason:
        skip_without(f"{sdk} can't be installed", reason)
    rows = [line.split(" | ") for line in on_page().splitlines()]
    column = SDKS.index(sdk) + 1
    on_the_page = [f"{row[0]} | {row[column].removesuffix(' |')} |" for row in rows]
    assert on_the_page == measured.splitlines(), "Run `python -m benchmarks.behaviour`."
