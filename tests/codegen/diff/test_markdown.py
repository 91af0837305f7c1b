"""The report as Markdown, in pull requests and commit messages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace

import pytest

from codegen.diff.render.markdown import LIMIT, markdown
from codegen.diff.report import Report
from codegen.diff.verdict.failures import UNPREDICTED
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from tests.support.diff.pages import failing, large

SAFE = Verdict.SAFE
NOTHING = Report("base", "head", (), {"v1": 0}, ("v1",))


def longer(count: int) -> Report:
    """Return the large report with its findings repeated `count` times, each under a subject of its own."""
    found = [
        replace(each, subject=f"{each.fingerprint}.{index}") for index in range(count) for each in large().findings
    ]
    return replace(large(), findings=tuple(found))


def test_the_verdict_and_the_version_bump_come_before_the_counts() -> None:
    title, _, _, verdict, _, _, _, stable, unstable, *_ = markdown(large()).splitlines()
    assert title == f"Schema: {large().base} → head (1.1.0)"
    assert verdict == "**The stable profile has breaking changes. Recommended version bump: major.**"
    assert [stable, unstable] == [row("v1"), row("v1_unstable")]


def row(profile: str) -> str:
    found = [each.worst.word for each in large().findings if each.profile == profile]
    counts = [found.count(word) for word in ("breaking", "risky", "safe")]
    return f"| {profile} | {' | '.join(map(str, counts))} | {large().docs_only[profile]} |"


def test_every_finding_has_an_item_and_safe_ones_are_folded() -> None:
    text = markdown(large())
    folded = "".join(re.findall(r"<details>.*?</details>", text, re.DOTALL))
    for each in large().findings:
        assert text.count(each.fingerprint) == (each.worst is not SAFE)
        assert (f"- `{each.subject}`: {each.sentence}" in folded) is (each.worst is SAFE)
    assert len(re.findall("^- ", text, re.MULTILINE)) == len(large().findings)
    assert "> Left out" not in text


@pytest.mark.parametrize("report", [large, lambda: failing(2, 3)], ids=["findings", "user code"])
def test_git_keeps_every_line_in_a_commit_message(report: Callable[[], Report]) -> None:
    text = markdown(report())
    command = ["git", "stripspace", "--strip-comments"]
    kept = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert kept.splitlines() == [line.rstrip() for line in text.splitlines()]
    assert "---" not in text.splitlines()


@pytest.mark.slow
def test_a_report_that_is_too_long_says_how_much_is_left_out_and_how_to_see_it() -> None:
    report = longer(5)
    text = markdown(report)
    (note,) = re.findall(r"^> Left out for length: .*make diff.*$", text, re.MULTILINE)
    counts, command = note.split(". ", 1)
    assert command == "For the full report run `make diff BASE=<the same base> FORMAT=html > report.html`."
    left_out = sum(int(number) for number in re.findall(r"\d+", counts))
    assert len(text) <= LIMIT
    assert left_out + len(re.findall("^- ", text, re.MULTILINE)) == len(report.findings)
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 4, 8])
def test_breaking_findings_of_the_stable_profile_are_left_out_last(count: int) -> None:
    report = longer(count)
    text = markdown(report)
    order = sorted(report.findings, key=lambda each: (each.worst is SAFE, each.reports_only, -each.worst))
    kept = [f"`{each.subject}`" in text for each in order]
    assert 0 < sum(kept) < len(kept)
    assert kept == sorted(kept, reverse=True)


def test_foreign_text_is_escaped() -> None:
    finding = replace(
        next(each for each in large().findings if each.worst is not SAFE),
        before="`a` ``b",
        after="<img src=x>",
        accepted="<script>*b*\n# [x](y)",
    )
    text = markdown(Report("<b>", "main", (finding,), {"v1": 0}, ("v1",)))
    assert "``` `a` ``b -> <img src=x> ```" in text
    assert r"✅ accepted: \<script>\*b\* # \[x](y)" in text
    assert text.startswith(r"Schema: \<b> → main")


def test_an_accepted_finding_has_its_reason() -> None:
    findings: list[Finding] = [replace(each, accepted="unused so far") for each in large().findings]
    text = markdown(replace(large(), findings=tuple(findings)))
    assert "All changes in the stable profile are safe or accepted. Recommended version bump: major." in text
    assert text.count("accepted: unused so far") == sum(each.worst is not SAFE for each in findings)


def test_if_nothing_changed_the_report_is_one_sentence() -> None:
    title, _, _, *rest = markdown(NOTHING).splitlines()
    assert title == "Schema: base → head"
    assert rest == ["**Nothing changed. Recommended version bump: none.**"]


def test_changed_descriptions_are_counted() -> None:
    *_, last = markdown(replace(NOTHING, docs_only={"v1": 3})).splitlines()
    assert last == "| v1 | 0 | 0 | 0 | 3 |"


# User code


def test_a_failure_is_in_the_item_of_its_finding_and_unpredicted_ones_come_before_the_counts() -> None:
    report = failing(1, 2)
    text = markdown(report)
    first, _ = text.split("| Profile |")
    assert first.index(UNPREDICTED) < first.index("- fails: `user/code/unpredicted.py:1: Module") < first.index(":2: ")
    assert f"User code: {failures(report)} failures in 7 files, 2 that no finding predicts." in first
    items = re.split("^- ", text, flags=re.MULTILINE)
    for each in [each for each in report.findings if each.failures]:
        (item,) = [item for item in items if f"`{each.fingerprint}`" in item]
        assert f"fails: `user/code/{each.fingerprint}.py:1: Module" in item
    assert text.count("fails: ") == failures(report)


def failures(report: Report) -> int:
    assert report.user_code is not None
    return report.user_code.failures


@pytest.mark.slow
@pytest.mark.parametrize(("predicted", "unpredicted"), [(20, 0), (200, 5), (1, 2000), (50, 500)])
def test_failures_are_left_out_before_findings_that_break_the_stable_profile(predicted: int, unpredicted: int) -> None:
    report = failing(predicted, unpredicted)
    text = markdown(report)
    assert len(text) <= LIMIT
    for each in report.findings:
        assert (each.fingerprint in text) or each.reports_only or each.worst is SAFE
    lines = len(re.findall("fails: ", text))
    assert lines >= min(unpredicted, 20)
    notes = re.findall(r"^> Left out for length: .*?(\d+) lines of user code\.", text, re.MULTILINE)
    assert max(map(int, notes)) == failures(report) - lines
    assert (UNPREDICTED in text) is bool(unpredicted)
    assert "run `make diff BASE=<the same base> USER_CODE=user/code FORMAT=html > report.html`." in text


def test_failures_with_very_long_messages_are_left_out_too() -> None:
    text = markdown(failing(1, 30, "x" * 10_000))
    assert len(text) <= LIMIT
    assert UNPREDICTED in text
    assert text.count("unpredicted.py") == 6
