"""The base's user code is checked with the head's package, and each failure is attached to its finding."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from codegen.__main__ import main
from codegen.diff.render.json import write_json
from codegen.diff.render.markdown import UNPREDICTED, write_markdown
from codegen.diff.report import Report, compare
from codegen.diff.sources import read_side
from codegen.diff.user_code.check import check_user_code
from codegen.diff.user_code.type_checker import run_mypy
from codegen.escaping import inert_code
from codegen.files import write_files
from tests.codegen.diff.cases.user_code import AFTER, BEFORE, CODE, DRAFT
from tests.codegen.diff.report_schema import SCHEMA
from tests.support.codegen.build import acp_schema, write_schema
from tests.support.diff.repository import USER_CODE, repository

# In one process, so that mypy reads the standard library and pydantic once.
pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.xdist_group("releases")]


def before(folder: Path) -> Path:
    return write_schema(folder / "schema", acp_schema(BEFORE))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("schemas")
    before, after = (write_schema(folder / name, acp_schema(made)) for name, made in (("old", BEFORE), ("new", AFTER)))
    write_schema(before, acp_schema(DRAFT), "v2/schema.json")
    return checked(repository(folder / "repository", before, CODE), after)


def checked(folder: Path, head: Path) -> Report:
    """Compare a repository's commit with a folder of schemas, and check its user code."""
    sides = read_side("HEAD", folder), read_side(str(head), folder)
    return check_user_code(USER_CODE, compare(*sides), *sides, folder)


def marked() -> set[tuple[str, int, str]]:
    lines = [(name, number, line) for name, text in CODE.items() for number, line in enumerate(text.split("\n"), 1)]
    marks = [(f"{USER_CODE}/{name}", number, re.search(r"  # ([a-z-]+)$", line)) for name, number, line in lines]
    return {(file, number, mark[1]) for file, number, mark in marks if mark}


def test_the_marked_lines_fail_with_the_findings_that_predict_them_and_no_others(report: Report) -> None:
    results = {
        (failure.file, failure.line, finding.rule) for finding in report.findings for failure in finding.failures
    }
    results |= {(failure.file, failure.line, "unpredicted") for failure in report.unpredicted}
    assert results == marked()
    assert report.user_code is not None
    assert (report.user_code.folder, report.user_code.files) == (USER_CODE, len(CODE))
    assert report.user_code.failures == len(marked())


def test_a_failure_is_attached_to_the_finding_about_the_name_in_it(report: Report) -> None:
    subjects = {failure.source: finding.subject for finding in report.findings for failure in finding.failures}
    assert (
        subjects["from acp_bindings.v1 import SetModeRequest  # method-removed-unannounced"]
        == "agent session/set_mode request"
    )
    assert (
        subjects["from acp_bindings.v1 import SetModeResponse  # method-removed-unannounced"]
        == "agent session/set_mode request"
    )
    assert subjects["await agent.session_set_mode()  # method-removed-unannounced"] == "agent session/set_mode request"
    assert subjects["assert_never(mood)  # enum-closed-value-added"] == "Mood"


def test_every_format_has_each_failure_with_its_line(report: Report) -> None:
    failures = [*report.unpredicted, *(failure for finding in report.findings for failure in finding.failures)]
    shown = {"markdown": write_markdown(report), "json": write_json(report).replace('\\"', '"')}
    for name, text in shown.items():
        for failure in failures:
            assert failure.message in text, name
            source = failure.source if name != "markdown" else inert_code(failure.source)
            assert source in text, name
        assert ("userCode" if name == "json" else UNPREDICTED) in unquote(text), name


def test_the_json_matches_its_schema(report: Report) -> None:
    data = json.loads(write_json(report))
    jsonschema.validate(data, SCHEMA)
    _, unpredicted = data["userCode"]["unpredicted"]
    assert unpredicted["source"] == "from acp_runtime import GONE  # unpredicted"
    (removed,) = [finding for finding in data["findings"] if finding["rule"] == "property-required-removed"]
    assert [(failure["file"], failure["line"]) for failure in removed["failures"]] == [(f"{USER_CODE}/read.py", 6)]


# The command


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a folder of user code for each of the following tests."""
    code = {"good/runtime.py": CODE["runtime.py"], "bad/broken.py": "def", "hiding/typing.py": "X = 1\n"}
    folder = tmp_path_factory.mktemp("folders")
    return repository(folder / "repository", before(folder), code)


def test_an_unpredicted_failure_gives_exit_code_1_even_if_the_schema_is_the_same(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("codegen.diff_command.REPOSITORY", folders)
    arguments = ["diff", "--base", "HEAD", "--head", str(folders / "schema"), "--fail-on", "breaking"]
    assert main(arguments) == 0
    assert "User code" not in capsys.readouterr().out
    assert main([*arguments, "--user-code", f"{USER_CODE}/good/"]) == 1
    out = capsys.readouterr().out
    assert UNPREDICTED in out
    assert f"{USER_CODE}/good/runtime.py:3: " in out
    assert "User code: 1 failure in 1 file, 1 that no finding predicts." in out


BAD = {
    "a folder that isn't there": ("nowhere", "HEAD has no nowhere. User code is checked as it was committed"),
    "a folder outside of the repository": ("/tmp", "HEAD has no /tmp. User code is checked as it was committed"),
    "a folder without Python": ("schema", "not a folder with Python files"),
    "a file": (f"{USER_CODE}/good/runtime.py", "not a folder with Python files"),
    "a syntax error": (f"{USER_CODE}/bad", "user/code/bad/broken.py of HEAD can't be parsed"),
    "a module that mypy refuses": (f"{USER_CODE}/hiding", "mypy can't check user/code/hiding"),
}


@pytest.mark.parametrize(("folder", "expected"), BAD.values(), ids=BAD)
def test_user_code_that_cannot_be_checked_gives_one_error_line(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str, expected: str
) -> None:
    monkeypatch.setattr("codegen.diff_command.REPOSITORY", folders)
    code = main(["diff", "--base", "HEAD", "--head", str(folders / "schema"), "--user-code", folder])
    out, err = capsys.readouterr()
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert expected in err


def test_user_code_needs_a_git_ref_as_base(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(before(tmp_path))
    assert main(["diff", "--base", folder, "--head", folder, "--user-code", USER_CODE]) == 2
    assert "Give a git ref as base." in capsys.readouterr().err


def test_messages_name_classes_as_user_code_does(tmp_path: Path) -> None:
    module = "acp_bindings.{}.models.content"
    names = [module.format(profile) for profile in ("v1", "v2_draft")]
    for name in names:
        file = tmp_path / "packages" / f"{name.replace('.', '/')}.py"
        write_files(file.parent, {file.name: b"class Text: ..."})
        write_files(tmp_path, {f"packages/{'/'.join(name.split('.')[:end])}/__init__.py": b"" for end in (1, 2, 3)})
    lines = [f"import {name}" for name in names] + [f"text: {names[0]}.Text = {names[1]}.Text()"]
    write_files(tmp_path, {"code/use.py": "\n".join(lines).encode()})
    (problem,) = run_mypy(tmp_path, "code", [tmp_path / "packages"])
    assert '"v2_draft.Text", variable has type "v1.Text"' in problem.message
