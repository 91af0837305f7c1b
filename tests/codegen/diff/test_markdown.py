"""The report as Markdown, in pull requests and commit messages."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from codegen.__main__ import SCHEMA
from codegen.diff.render.markdown import LIMIT, UNPREDICTED, write_markdown
from codegen.diff.report import Report, UserCode, compare
from codegen.diff.verdict.findings import Failure, Finding
from codegen.diff.verdict.verdicts import Severity, Verdict
from tests.support.diff.sides import side_of_schemas

SAFE = Verdict.SAFE
NOTHING = Report("base", "head", (), {"v1": 0}, ("v1",))


@cache
def large() -> Report:
    """Compare the real stable and unstable schemas, in both directions, for a report with all verdicts and flows."""
    stable, unstable = (
        json.loads((SCHEMA / f"v1/{name}.json").read_text("utf-8")) for name in ("schema", "schema.unstable")
    )
    branch = "a/branch/with/a/name/that-is-as-long-as-those-of-branches-that-tools-make"
    base = side_of_schemas({"v1": unstable, "v1_unstable": stable}, branch, "1.0.0")
    return compare(base, side_of_schemas({"v1": stable, "v1_unstable": unstable}, "head", "1.1.0"))


def failing(predicted: int, unpredicted: int) -> Report:
    """Return the large report with this many failures for each breaking finding, and unpredicted ones."""
    findings = tuple(
        replace(finding, failures=make_failures(finding.fingerprint, predicted))
        if finding.worst is Verdict.BREAKING
        else finding
        for finding in large().findings
    )
    others = make_failures("unpredicted", unpredicted)
    count = sum(len(finding.failures) for finding in findings) + len(others)
    return replace(large(), findings=findings, user_code=UserCode("user/code", 7, count, others))


def make_failures(name: str, count: int) -> tuple[Failure, ...]:
    message = 'Module has no attribute "X"'
    return tuple(Failure(f"user/code/{name}.py", line, f"x = {line}", message) for line in range(1, count + 1))


def longer(count: int) -> Report:
    """Return the large report with its findings repeated `count` times, each under a subject and rule of its own."""
    results = [
        replace(finding, subject=f"{finding.fingerprint}.{index}", before=f"{index}", same=())
        for index in range(count)
        for finding in large().findings
    ]
    return replace(large(), findings=tuple(results))


def test_who_has_to_act_and_the_version_bump_come_before_the_counts() -> None:
    verdict, title, bump, counts, *_ = write_markdown(large()).split("\n\n")
    assert re.fullmatch(r"\*\*Agents and clients have to act on \d+ breaking changes\.\*\*", verdict)
    assert title.splitlines()[0] == f"Schema: {large().base} → head (1.1.0)"
    assert bump == "Recommended version bump: major, because the stable profile has breaking changes."
    assert counts.splitlines()[2:] == [row("v1"), row("v1_unstable")]


def test_changed_descriptions_of_the_stable_profile_are_said_to_have_changed() -> None:
    unstable = tuple(finding for finding in large().findings if finding.reports_only)
    report = replace(large(), findings=unstable, docs_only={"v1": 1, "v1_unstable": 0})
    nobody = "**Nobody has to act: nothing but descriptions changed in the stable profile.**"
    assert write_markdown(report).splitlines()[0] == nobody


def row(profile: str) -> str:
    words = [finding.worst.word for finding in large().findings if finding.profile == profile]
    counts = [words.count(word) for word in ("breaking", "risky", "safe")]
    return f"| {profile} | {' | '.join(map(str, counts))} | {large().docs_only[profile]} |"


def folds(text: str) -> str:
    return "".join(re.findall(r"<details>.*?</details>", text, re.DOTALL))


def test_every_finding_has_an_item_and_safe_ones_and_drafts_are_folded() -> None:
    text = write_markdown(large())
    folded = folds(text)
    for finding in large().findings:
        is_folded = finding.worst is SAFE or finding.reports_only
        assert (f"`{finding.fingerprint}`" in text) is not is_folded
        assert (f"`{finding.subject}`" in folded) is is_folded or not is_folded
        assert f"`{finding.subject}`" in text
    assert "> Left out" not in text


def test_the_worst_findings_come_first() -> None:
    text = write_markdown(large()).partition("\n<details>")[0]
    unfolded: list[str] = re.findall(r"^\*\*(.*): .*\*\*$", text, re.MULTILINE)
    titles = [severity.title for severity in sorted(Severity, reverse=True)]
    order = [titles.index(title) for title in unfolded if title in titles]
    assert order == sorted(order)
    assert {titles[index] for index in order} >= {
        "Breaks messages of other methods",
        "Breaks only Python code",
        "Risky",
    }


def test_findings_that_differ_only_in_their_subjects_are_one_item() -> None:
    first = next(finding for finding in large().findings if not finding.reports_only and finding.worst is not SAFE)
    twins = (replace(first, subject="A.one"), replace(first, subject="B.two"))
    text = write_markdown(Report("base", "head", twins, {"v1": 0}, ("v1",)))
    assert f"🔴 `A.one`, `B.two`: {first.sentence}" in text
    assert f"`{twins[0].fingerprint}`, `{twins[1].fingerprint}`" in text


def test_a_finding_that_an_earlier_profile_has_is_only_counted() -> None:
    first = next(finding for finding in large().findings if not finding.reports_only and finding.worst is not SAFE)
    result = (first, replace(first, profile="v2_draft", reports_only=True))
    text = write_markdown(Report("base", "head", result, {"v1": 0, "v2_draft": 0}, ("v1", "v2_draft")))
    assert text.count(f"`{first.subject}`") == 1
    assert "\n\nv2_draft (for information only): Same as in v1: 1 finding.\n" in text


@pytest.mark.parametrize("report", [large, lambda: failing(2, 3)], ids=["findings", "user code"])
def test_git_keeps_every_line_in_a_commit_message(report: Callable[[], Report]) -> None:
    text = write_markdown(report())
    command = ["git", "stripspace", "--strip-comments"]
    kept = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert kept.splitlines() == [line.rstrip() for line in text.splitlines()]
    assert "---" not in text.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, pytest.param(30, marks=pytest.mark.test_all)])
def test_a_report_that_is_too_long_is_cut_and_says_so(count: int) -> None:
    report = longer(count)
    text = write_markdown(report)
    assert len(text) < 65_000
    assert text.count("<details>") == text.count("</details>")
    assert re.search(r"\n\n> Left out for length: \d+ lines\. `make diff BASE=<the same base> FORMAT=json` .*\n$", text)
    stable = [finding for finding in report.findings if not finding.reports_only]
    kept = [finding.severity for finding in stable if f"`{finding.subject}`" in text]
    left_out = [finding.severity for finding in stable if f"`{finding.subject}`" not in text]
    assert min(kept) >= max(left_out)


def test_the_ends_of_lines_count_towards_the_length() -> None:
    text = write_markdown(replace(NOTHING, notes=("",) * 20_000))
    assert LIMIT - 100 < len(text) < LIMIT + 1000


def test_foreign_text_is_escaped() -> None:
    finding = replace(
        next(finding for finding in large().findings if finding.worst is not SAFE),
        before="`a` ``b",
        after="<img src=x>",
        accepted="<script>*b*\n# [x](y)",
    )
    text = write_markdown(Report("<b>", "main", (finding,), {"v1": 0}, ("v1",)))
    assert "``` `a` ``b -> <img src=x> ```" in text
    assert r"✅ accepted: \<script>\*b\* # \[x](y)" in text
    assert r"Schema: \<b> → main" in text


def test_an_accepted_finding_has_its_reason() -> None:
    findings: list[Finding] = [replace(finding, accepted="unused so far") for finding in large().findings]
    text = write_markdown(replace(large(), findings=tuple(findings)))
    assert text.startswith("**Nobody has to act: all changes in the stable profile are safe or accepted.**")
    assert "major, because the stable profile has breaking changes (accepted ones count, too)." in text
    items = re.findall("[🔴🟡] `", text)
    folded = re.findall("[🔴🟡] `", folds(text))
    assert text.count("accepted: unused so far") == len(items) - len(folded)


def test_if_nothing_changed_the_report_is_two_sentences() -> None:
    first, _, title, _, _, *rest = write_markdown(NOTHING).splitlines()
    assert (first, title) == ("**Nobody has to act: nothing changed.**", "Schema: base → head")
    assert rest == ["Recommended version bump: none, because nothing changed."]


def test_changed_descriptions_are_counted() -> None:
    *_, last = write_markdown(replace(NOTHING, docs_only={"v1": 3})).splitlines()
    assert last == "| v1 | 0 | 0 | 0 | 3 |"


# User code


def test_a_failure_is_in_its_findings_item_or_before_the_counts() -> None:
    report = failing(1, 2)
    text = write_markdown(report)
    first, _ = text.split("| Profile |")
    assert first.index(UNPREDICTED) < first.index("- `user/code/unpredicted.py:1: Module") < first.index(":2: ")
    assert f"User code: {failures(report)} failures in 7 files, 2 that no finding predicts." in first
    items = re.split("^- ", text, flags=re.MULTILINE)
    for finding in [finding for finding in report.findings if finding.failures and not finding.reports_only]:
        (item,) = [item for item in items if f"`{finding.fingerprint}`" in item]
        assert f"fails: `user/code/{finding.fingerprint}.py:1: Module" in item
    assert text.count("fails: ") == sum(len(finding.failures) for finding in report.findings)


def failures(report: Report) -> int:
    assert report.user_code is not None
    return report.user_code.failures
