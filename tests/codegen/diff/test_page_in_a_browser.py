"""The HTML page in a real browser: its filters and addresses work, and nothing is wider than the window.

A headless browser is run once, without a driver. It opens a page with a frame for each scene, in which a script opens
the report, clicks, and records what is visible. Without a browser the tests are skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import pytest

from codegen.diff.render.html import html
from codegen.diff.render.json import json_values
from codegen.diff.report import Report
from tests.support.diff.pages import failing, large, parsed
from tests.support.paths import ROOT
from tests.support.skipping import skip_or_fail

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

FRAMES = ROOT / "tests/support/diff/frames.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --allow-file-access-from-files --virtual-time-budget=20000 --dump-dom"
)
CHECKED = "checked.html"
# In an address: the fingerprint of the first finding that is safe for everyone.
SAFE = "<safe>"
ALL = "verdict=breaking,risky,safe&role=agent,client&code=builds,reads"


@dataclass(frozen=True)
class Scene:
    """One view of a page.

    Attributes:
        hash: the fragment of the address at which the page is opened.
        clicks: the boxes and buttons that are clicked then.
        goto: the fragment to go to after that.
        width: the window's width in pixels.
        sandbox: the frame's sandbox; None for none.
        page: the page's file.
    """

    hash: str = ""
    clicks: list[str] = field(default_factory=list[str])
    goto: str = ""
    width: int = 1000
    sandbox: str | None = None
    page: str = "report.html"


SCENES = {
    "plain": Scene(),
    "one verdict": Scene("#verdict=breaking"),
    "one role": Scene("#role=agent"),
    "all three": Scene("#verdict=risky,breaking&role=client&code=reads"),
    "safe for some": Scene("#verdict=safe&role=client&code=reads"),
    "no verdict": Scene("#verdict="),
    "clicked": Scene("", ["safe", "agent", "builds"]),
    "clicked again": Scene("#verdict=breaking", ["safe", "risky"]),
    "reset": Scene("#verdict=breaking&role=agent", ["reset"]),
    "a finding": Scene(f"#{SAFE}"),
    "a hidden finding": Scene("#verdict=breaking", goto=f"#{SAFE}"),
    "without javascript": Scene("#verdict=breaking", sandbox="allow-same-origin"),
    "narrow": Scene("#code=builds,reads", width=360),
    "wide": Scene(width=1600),
    "user code": Scene(page=CHECKED),
    "what fails": Scene("#user=fails", page=CHECKED),
    "what passes for agents": Scene("#role=agent", ["fails"], page=CHECKED),
    "user code and no verdict": Scene("#verdict=&user=fails,passes", page=CHECKED),
    "user code without javascript": Scene("#user=fails", sandbox="allow-same-origin", page=CHECKED),
    "user code, narrow": Scene("#user=fails", width=360, page=CHECKED),
    "user code that was not checked": Scene("#user=fails"),
}


@cache
def findings() -> dict[str, dict[str, Any]]:
    return {each["fingerprint"]: each for each in json_values(large())["findings"]}


@cache
def safe() -> str:
    return next(name for name, each in findings().items() if each["worst"] == "safe")


@cache
def user_code() -> Report:
    return failing(1, 3, message=f"Expected {'Annotated' * 20}")


@cache
def fails() -> set[str]:
    return {each.fingerprint for each in user_code().findings if each.failures}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what was visible in every scene."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        skip_or_fail("browser", f"None of {', '.join(BROWSERS)} is installed.")
    folder = tmp_path_factory.mktemp("page")
    (folder / "report.html").write_text(html(large()), "utf-8")
    (folder / CHECKED).write_text(html(user_code()), "utf-8")
    scenes = json.dumps({name: asdict(each) for name, each in SCENES.items()}).replace(SAFE, safe())
    harness = folder / "harness.html"
    harness.write_text(FRAMES.read_text("utf-8").replace('"SCENES"', scenes), "utf-8")
    command = [browser, *OPTIONS.split(), f"--user-data-dir={folder / 'profile'}", harness.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, Any] = json.loads(parsed(done.stdout).one("pre").text)
    return found


def verdicts_for(role: str | None = None, code: str | None = None) -> dict[str, str]:
    """Return the JSON's verdicts for a role's code that builds or reads, without findings that don't affect it."""
    axes = {"builds": ["old_peer", "build"], "reads": ["new_peer", "read", "implement"]}
    found: dict[str, str] = {}
    for name, each in findings().items():
        who = {"builds": each["writers"], "reads": each["readers"]}
        affected = [
            each["verdicts"][axis]
            for does in ([code] if code else axes)
            if each["flow"] == "none" or (who[does] if role is None else role in who[does])
            for axis in axes[does]
        ]
        if affected:
            found[name] = min(affected, key=["breaking", "risky", "safe"].index)
    return found


def with_verdict(found: dict[str, str], *verdicts: str) -> dict[str, str]:
    return {name: each for name, each in found.items() if each in verdicts}


EXPECTED: dict[str, Callable[[], dict[str, str]]] = {
    "plain": verdicts_for,
    "one verdict": lambda: with_verdict(verdicts_for(), "breaking"),
    "one role": lambda: verdicts_for("agent"),
    "all three": lambda: with_verdict(verdicts_for("client", "reads"), "risky", "breaking"),
    "safe for some": lambda: with_verdict(verdicts_for("client", "reads"), "safe"),
    "no verdict": dict,
    "clicked": lambda: with_verdict(verdicts_for("client", "reads"), "risky", "breaking"),
    "clicked again": verdicts_for,
    "reset": verdicts_for,
    "a finding": verdicts_for,
    "a hidden finding": verdicts_for,
    "without javascript": verdicts_for,
    "user code": verdicts_for,
    "what fails": lambda: {k: each for k, each in verdicts_for().items() if k in fails()},
    "what passes for agents": lambda: {
        name: each for name, each in verdicts_for("agent").items() if name not in fails()
    },
    "user code and no verdict": dict,
    "user code without javascript": verdicts_for,
    "user code that was not checked": verdicts_for,
}
WITHOUT_JAVASCRIPT = {"without javascript", "user code without javascript"}


def test_some_findings_are_safe_for_the_selected_code_and_worse_for_other_code() -> None:
    assert any(findings()[name]["worst"] != "safe" for name in EXPECTED["safe for some"]())


@pytest.mark.parametrize("scene", EXPECTED)
def test_the_filters_show_their_findings_with_the_verdict_for_the_selected_code(
    seen: dict[str, Any], scene: str
) -> None:
    assert seen[scene]["shown"] == EXPECTED[scene]()


def test_the_number_of_visible_findings_is_shown(seen: dict[str, Any]) -> None:
    counts = {scene: seen[scene]["count"] for scene in EXPECTED if scene not in WITHOUT_JAVASCRIPT}
    assert counts == {scene: f"{len(EXPECTED[scene]())} of {len(findings())} findings" for scene in counts}


def test_each_option_shows_how_many_findings_it_gives_with_the_other_filters(seen: dict[str, Any]) -> None:
    reads = verdicts_for("client", "reads")
    chosen = ("breaking", "risky")
    assert seen["clicked"]["counts"] == {
        **{verdict: str(len(with_verdict(reads, verdict))) for verdict in ("breaking", "risky", "safe")},
        **{role: str(len(with_verdict(verdicts_for(role, "reads"), *chosen))) for role in ("agent", "client")},
        **{code: str(len(with_verdict(verdicts_for("client", code), *chosen))) for code in ("builds", "reads")},
    }


def test_groups_without_findings_are_hidden_and_a_page_without_findings_says_so(seen: dict[str, Any]) -> None:
    nothing = {scene for scene, each in seen.items() if each["nothing"]}
    assert nothing == {"no verdict", "user code and no verdict"}
    assert seen["no verdict"]["sections"] == 0
    assert 0 < seen["one verdict"]["sections"] < seen["plain"]["sections"]


def test_clicks_change_the_address(seen: dict[str, Any]) -> None:
    assert seen["clicked"]["hash"] == "#verdict=breaking,risky&role=client&code=reads"
    assert seen["clicked again"]["hash"] == seen["reset"]["hash"] == f"#{ALL}"


def test_a_fingerprint_in_the_address_leads_to_its_finding_even_if_hidden(seen: dict[str, Any]) -> None:
    assert [seen[scene]["hash"] for scene in ("a finding", "a hidden finding")] == [f"#{safe()}"] * 2
    assert [seen[scene]["scrolled"] for scene in ("plain", "a finding", "a hidden finding")] == [False, True, True]


def test_without_javascript_there_are_no_filters(seen: dict[str, Any]) -> None:
    assert {scene for scene, each in seen.items() if not each["filters"]} == WITHOUT_JAVASCRIPT


def test_unpredicted_failures_are_shown_with_any_filter(seen: dict[str, Any]) -> None:
    assert {scene for scene, each in seen.items() if each["unpredicted"]} == {
        scene for scene, each in SCENES.items() if each.page == CHECKED
    }


def test_the_filter_for_user_code_has_counts_and_is_in_the_address(seen: dict[str, Any]) -> None:
    counts = seen["what passes for agents"]["counts"]
    assert counts["fails"] == str(len(verdicts_for("agent").keys() & fails()))
    assert counts["passes"] == str(len(verdicts_for("agent").keys() - fails()))
    address = "#verdict=breaking,risky,safe&role=agent&code=builds,reads&user=passes"
    assert seen["what passes for agents"]["hash"] == address


@pytest.mark.parametrize(("scene", "width"), [("narrow", 360), ("wide", 1600), ("user code, narrow", 360)])
def test_nothing_is_wider_than_the_window(seen: dict[str, Any], scene: str, width: int) -> None:
    assert seen[scene]["window"] == width
    assert seen[scene]["content"] <= width
