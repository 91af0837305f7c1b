"""What the tests of other people's projects show, and the list of tests that no longer pass."""

from __future__ import annotations

from benchmarks.crater.results import PAGE, PROJECTS, Result, problems, render_page

RESULT = Result(
    "nooa-acp", "0.12.1", before={"a": True, "b": True, "c": False}, after={"a": True}, ours=2, official=0, seconds=1.4
)


def test_a_lost_test_that_is_listed_is_no_problem() -> None:
    assert RESULT.lost == {"b"}
    assert list(problems(RESULT, ["b"])) == []


def test_a_lost_test_that_is_not_listed_is_named() -> None:
    assert list(problems(RESULT, [])) == ["passes only on the official connection: b"]


def test_a_listed_test_that_is_not_lost_has_to_be_taken_out() -> None:
    assert list(problems(RESULT, ["b", "c"])) == ["isn't lost: take it out of projects.toml: c"]


def test_a_project_without_a_connection_of_ours_shows_nothing() -> None:
    (problem,) = problems(RESULT._replace(ours=0), ["b"])
    assert "no connection of ours" in problem


def test_the_page_has_a_row_of_each_project_and_each_lost_test() -> None:
    written = render_page([RESULT._replace(name=name) for name in PROJECTS])
    for name, project in PROJECTS.items():
        assert f"| {name} {project['version']} | 0.12.1 | 3 | 2 | 1 | 2 | 0 | 1 |" in written
        assert all(f"| {name} | `{test}` | {reason} |" in written for test, reason in project.get("lost", {}).items())


def test_the_page_was_written_by_a_run_of_the_listed_projects() -> None:
    text = PAGE.read_text("utf-8")
    for name, project in PROJECTS.items():
        assert f"| {name} {project['version']} |" in text
        assert all(f"| {name} | `{test}` | {reason} |" in text for test, reason in project.get("lost", {}).items())
