"""The page in a real browser: its filters, its addresses, and that nothing is wider than the window.

One run of a headless browser, without a driver: a page of frames, each with the report at another address, in which a
script clicks and then writes down what it sees. Skipped where there is no browser.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from codegen.diff.render.html import html
from codegen.diff.render.machine import as_json
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
FINDINGS = {each["fingerprint"]: each for each in as_json(large())["findings"]}
SAFE = next(name for name, each in FINDINGS.items() if each["worst"] == "safe")
CHECKED = "checked.html"
USER_CODE = failing(1, 3, message=f"Expected {'Annotated' * 20}")
FAILS = {each.fingerprint for each in USER_CODE.findings if each.failures}
ALL = "verdict=breaking,risky,safe&role=agent,client&code=builds,reads"


@dataclass(frozen=True)
class Scene:
    """A look at a page: where it is opened, the boxes that are clicked then, and where it is led after that."""

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


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser saw in every scene."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        skip_or_fail("browser", f"None of {', '.join(BROWSERS)} is installed.")
    folder = tmp_path_factory.mktemp("page")
    (folder / "report.html").write_text(html(large()), "utf-8")
    (folder / CHECKED).write_text(html(USER_CODE), "utf-8")
    scenes = json.dumps({name: asdict(each) for name, each in SCENES.items()})
    harness = folder / "harness.html"
    harness.write_text(FRAMES.read_text("utf-8").replace('"SCENES"', scenes), "utf-8")
    command = [browser, *OPTIONS.split(), f"--user-data-dir={folder / 'profile'}", harness.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, Any] = json.loads(parsed(done.stdout).one("pre").text)
    return found


def judged(role: str | None = None, code: str | None = None) -> dict[str, str]:
    """The verdict that the JSON has for code of this role that does this, where a finding has to do with such code."""
    axes = {"builds": ["old_peer", "build"], "reads": ["new_peer", "read", "implement"]}
    found: dict[str, str] = {}
    for name, each in FINDINGS.items():
        who = {"builds": each["writers"], "reads": each["readers"]}
        concerned = [
            each["verdicts"][axis]
            for does in ([code] if code else axes)
            if each["flow"] == "none" or (who[does] if role is None else role in who[does])
            for axis in axes[does]
        ]
        if concerned:
            found[name] = min(concerned, key=["breaking", "risky", "safe"].index)
    return found


def with_verdict(found: dict[str, str], *verdicts: str) -> dict[str, str]:
    return {name: each for name, each in found.items() if each in verdicts}


EXPECTED = {
    "plain": judged(),
    "one verdict": with_verdict(judged(), "breaking"),
    "one role": judged("agent"),
    "all three": with_verdict(judged("client", "reads"), "risky", "breaking"),
    "safe for some": with_verdict(judged("client", "reads"), "safe"),
    "no verdict": {},
    "clicked": with_verdict(judged("client", "reads"), "risky", "breaking"),
    "clicked again": judged(),
    "reset": judged(),
    "a finding": judged(),
    "a hidden finding": judged(),
    "without javascript": judged(),
    "user code": judged(),
    "what fails": {name: each for name, each in judged().items() if name in FAILS},
    "what passes for agents": {name: each for name, each in judged("agent").items() if name not in FAILS},
    "user code and no verdict": {},
    "user code without javascript": judged(),
    "user code that was not checked": judged(),
}
WITHOUT_JAVASCRIPT = {"without javascript", "user code without javascript"}


def test_something_is_safe_for_the_code_that_was_chosen_and_not_for_other_code() -> None:
    assert any(FINDINGS[name]["worst"] != "safe" for name in EXPECTED["safe for some"])


@pytest.mark.parametrize("scene", EXPECTED)
def test_what_is_shown_is_what_the_filters_say_with_its_verdict_for_them(seen: dict[str, Any], scene: str) -> None:
    assert seen[scene]["shown"] == EXPECTED[scene]


def test_the_number_of_findings_that_are_shown_is_said(seen: dict[str, Any]) -> None:
    said = {scene: seen[scene]["count"] for scene in EXPECTED if scene not in WITHOUT_JAVASCRIPT}
    assert said == {scene: f"{len(EXPECTED[scene])} of {len(FINDINGS)} findings" for scene in said}


def test_each_filter_says_how_many_it_would_show_beside_the_others(seen: dict[str, Any]) -> None:
    reads = judged("client", "reads")
    chosen = ("breaking", "risky")
    assert seen["clicked"]["counts"] == {
        **{verdict: str(len(with_verdict(reads, verdict))) for verdict in ("breaking", "risky", "safe")},
        **{role: str(len(with_verdict(judged(role, "reads"), *chosen))) for role in ("agent", "client")},
        **{code: str(len(with_verdict(judged("client", code), *chosen))) for code in ("builds", "reads")},
    }


def test_a_group_without_findings_is_not_shown_and_nothing_at_all_is_said(seen: dict[str, Any]) -> None:
    nothing = {scene for scene, each in seen.items() if each["nothing"]}
    assert nothing == {"no verdict", "user code and no verdict"}
    assert seen["no verdict"]["sections"] == 0
    assert 0 < seen["one verdict"]["sections"] < seen["plain"]["sections"]


def test_what_is_clicked_is_in_the_address(seen: dict[str, Any]) -> None:
    assert seen["clicked"]["hash"] == "#verdict=breaking,risky&role=client&code=reads"
    assert seen["clicked again"]["hash"] == seen["reset"]["hash"] == f"#{ALL}"


def test_a_fingerprint_in_the_address_leads_to_its_finding_even_if_it_was_hidden(seen: dict[str, Any]) -> None:
    assert [seen[scene]["hash"] for scene in ("a finding", "a hidden finding")] == [f"#{SAFE}"] * 2
    assert [seen[scene]["scrolled"] for scene in ("plain", "a finding", "a hidden finding")] == [False, True, True]


def test_without_javascript_there_are_no_filters(seen: dict[str, Any]) -> None:
    assert {scene for scene, each in seen.items() if not each["filters"]} == WITHOUT_JAVASCRIPT


def test_the_alarm_is_shown_whatever_is_chosen(seen: dict[str, Any]) -> None:
    assert {scene for scene, each in seen.items() if each["alarm"]} == {
        scene for scene, each in SCENES.items() if each.page == CHECKED
    }


def test_what_is_chosen_of_user_code_is_counted_and_in_the_address(seen: dict[str, Any]) -> None:
    counts = seen["what passes for agents"]["counts"]
    assert counts["fails"] == str(len(judged("agent").keys() & FAILS))
    assert counts["passes"] == str(len(judged("agent").keys() - FAILS))
    address = "#verdict=breaking,risky,safe&role=agent&code=builds,reads&user=passes"
    assert seen["what passes for agents"]["hash"] == address


@pytest.mark.parametrize(("scene", "width"), [("narrow", 360), ("wide", 1600), ("user code, narrow", 360)])
def test_nothing_is_wider_than_the_window(seen: dict[str, Any], scene: str, width: int) -> None:
    assert seen[scene]["window"] == width
    assert seen[scene]["content"] <= width
