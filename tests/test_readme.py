"""The README and the front page have the same programs and reasons, with the numbers that were measured.

tests/docs runs the programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from benchmarks.behaviour import on_page
from tools.paths import ROOT

README = (ROOT / "README.md").read_text("utf-8")
HOME = (ROOT / "docs" / "index.md").read_text("utf-8")


def _files(page: str) -> dict[str, str]:
    """The Python blocks, by the file names in their first lines."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", page, re.DOTALL)
    return dict(blocks)


def test_the_agent_is_the_same_as_in_examples_and_on_the_site() -> None:
    agent = _files(README)["echo_agent.py"]
    assert (ROOT / "examples" / "echo_agent.py").read_text("utf-8").endswith(agent)
    assert _files(HOME) == _files(README)


def _rows(page: str) -> dict[str, list[str]]:
    """The rows of a page's tables, by their first cells."""
    lines = (ROOT / "docs" / page).read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {row[0]: row[1:] for row in reversed(rows)}  # the first of several with the same name


def _results(row: str) -> tuple[float, float, float]:
    """What `make bench` measured in a row: of ours, the official SDK, and its pre-release."""
    cells = [cell.replace(",", "") for cell in _rows("project/performance.md")[row]]
    return float(cells[1]), float(cells[3]), float(cells[4])


def _measured() -> Iterator[str]:
    """What the reasons say about the numbers of other pages."""
    handled, official_handled, _ = _results("receive")
    yield f"handles {handled / official_handled:.1f} times as many updates per second"
    started, official_started, _ = _results("cold-start")
    yield f"starts in {started:.0f} ms, not in {official_started:.0f} ms"
    order = next(row for row in on_page().splitlines() if row.startswith("| order "))
    official, _, ours = (cell.strip() for cell in order.strip("|").split("|")[1:])
    yield f"are handled as {ours}, not as {official}"
    yield f"[{len(on_page().splitlines()) - 2} differences]"
    missing = _rows("which-sdk.md")["missing from version 1"][0]
    yield f"lacks {('no', 'one', 'two', 'three', 'four', 'five', 'six')[len(missing.split(', '))]} parts"
    projects = [
        cells for cells in _rows("project/official-projects.md").values() if len(cells) == 7 and cells[1].isdigit()
    ]
    passed = [sum(int(cells[column]) for cells in projects) for column in (2, 3)]
    yield f"{passed[1]:,} of {passed[0]:,} tests of other people's projects for the official SDK pass"


@pytest.mark.parametrize("page", [README, HOME], ids=["README", "HOME"])
def test_the_reasons_have_the_measured_numbers(page: str) -> None:
    text = " ".join(page.split())
    assert [sentence for sentence in _measured() if sentence not in text] == []


def test_the_comparison_of_speed_has_the_measured_numbers() -> None:
    rows = {
        "updates per second that a client handles": "receive",
        "updates per second that an agent sends": "send",
        "time of a round trip": "round-trip",
        "time until an agent has started": "cold-start",
        "updates per second from 200 agents": "agents",
        "updates per second to 1,000 WebSockets": "websockets",
        "time to receive 30 MB": "large-received",
        "memory of an idle agent, in its client": "idle",
    }
    measured = {
        text: [f"{ours / official:.1f}" for official in officials]
        for text, row in rows.items()
        for ours, *officials in [_results(row)]
    }
    on_the_page = _rows("which-sdk.md")
    assert {text: on_the_page[text] for text in rows} == measured


def test_the_readme_names_each_extra_of_the_install_page() -> None:
    install = (ROOT / "docs" / "learn" / "install.md").read_text("utf-8")
    extras = [re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) for text in (README, install)]
    assert extras[0] == extras[1]
