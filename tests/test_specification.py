"""Each statement of the specification has a proof, and the page that lists the statements is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.specification import page, statements
from tools.specification.statements import Statement, problems, read, running_tests

STATEMENTS = read()


def test_each_statement_has_a_proof_that_exists() -> None:
    assert STATEMENTS
    wrong = [f"{statement.page}: {problem}" for statement in STATEMENTS for problem in problems(statement)]
    assert wrong == []


def test_the_page_of_the_statements_is_up_to_date() -> None:
    assert page.PAGE.read_text("utf-8") == page.render_page(STATEMENTS), "Run make specification."


def test_each_statement_is_there_once() -> None:
    assert len({(statement.page, statement.text) for statement in STATEMENTS}) == len(STATEMENTS)


THIS = "tests/test_specification.py::test_each_statement_is_there_once"


@pytest.mark.parametrize(
    ("proof", "problem"),
    [
        ({"done": [THIS]}, None),
        (
            {"acp_kit": [THIS, "tests/test_specification.py::test_gone"]},
            "there is no test tests/test_specification.py::test_gone",
        ),
        ({"done": ["tests/test_gone.py::test_gone"]}, "there is no test tests/test_gone.py::test_gone"),
        ({"done": ["tests/support/scale.py::SEED"]}, "there is no test tests/support/scale.py::SEED"),
        ({}, "it needs one of"),
        ({"done": [THIS], "yours": "guides/kit.md#the-kit"}, "it needs one of"),
        ({"yours": "guides/kit.md#the-kit"}, None),
        ({"yours": "guides/kit.md#gone"}, "there is no heading docs/guides/kit.md#gone"),
        ({"yours": "guides/gone.md#guides"}, "there is no heading docs/guides/gone.md#guides"),
        ({"not_done": "Because."}, None),
        ({"who": "server", "not_done": "Because."}, "'server MUST' is not one of"),
        ({"keyword": "must", "not_done": "Because."}, "'agent must' is not one of"),
    ],
)
def test_a_statement_without_a_proof_is_found(proof: dict[str, object], problem: str | None) -> None:
    statement = Statement(**{"page": "v1/x", "who": "agent", "text": "x", "keyword": "MUST", **proof})  # type: ignore[arg-type]
    messages = list(problems(statement))
    assert len(messages) == (problem is not None)
    assert problem is None or messages[0].startswith(problem)


def test_a_test_that_is_always_skipped_is_no_proof(tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    tests = """
import pytest

def test_runs():
    if x: pytest.skip("sometimes")

@pytest.mark.skipif(windows, reason="no")
async def test_runs_elsewhere(): ...

@pytest.mark.skip
def test_skipped(): ...

@pytest.mark.skip(reason="no")
async def test_skipped_with_a_reason(): ...

@pytest.mark.skipif(True, reason="no")
def test_skipped_always(): ...

@pytest.mark.xfail
def test_may_fail(): ...

def test_skips_itself():
    pytest.skip("no")

def helper(): ...
"""
    file.write_text(tests)
    assert running_tests(file) == {"test_runs", "test_runs_elsewhere"}
    statements.running_tests.cache_clear()
    file.write_text(f"{tests}\npytestmark = pytest.mark.skip\n")
    assert running_tests(file) == frozenset()
