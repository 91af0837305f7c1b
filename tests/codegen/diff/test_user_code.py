"""User code as of the base, checked with the head's package: what fails is listed beside what predicts it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from codegen.__main__ import main
from codegen.diff.render.github import github
from codegen.diff.render.html import html
from codegen.diff.render.machine import machine
from codegen.diff.render.markdown import markdown
from codegen.diff.render.terminal import terminal
from codegen.diff.report import Report, compare
from codegen.diff.sources import read_side
from codegen.diff.user_code.failures import UNPREDICTED
from codegen.diff.user_code.proof import check_user_code
from tests.codegen.diff.cases.user_code import AFTER, BEFORE, CODE, DRAFT
from tests.support.codegen.build import acp_schema, write_schema
from tests.support.diff.everything import everything
from tests.support.diff.report import SCHEMA
from tests.support.diff.repository import USER_CODE, repository
from tests.support.releases import schemas_of
from tests.support.scale import sample

pytestmark = pytest.mark.slow


def before(folder: Path) -> Path:
    return write_schema(folder / "schema", acp_schema(BEFORE))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("schemas")
    before, after = (write_schema(folder / each, acp_schema(made)) for each, made in (("old", BEFORE), ("new", AFTER)))
    write_schema(before, acp_schema(DRAFT), "v2/schema.json")
    return checked(repository(folder / "repository", before, CODE), after)


def checked(folder: Path, head: Path) -> Report:
    """The report on what a repository has committed, compared with a folder of schemas."""
    sides = read_side("HEAD", folder), read_side(str(head), folder)
    return check_user_code(USER_CODE, compare(*sides, []), *sides, folder)


def marked() -> set[tuple[str, int, str]]:
    lines = [(name, number, line) for name, text in CODE.items() for number, line in enumerate(text.split("\n"), 1)]
    marks = [(f"{USER_CODE}/{name}", number, re.search(r"  # ([a-z-]+)$", line)) for name, number, line in lines]
    return {(file, number, mark[1]) for file, number, mark in marks if mark}


@pytest.mark.xdist_group("user code")
def test_every_failure_stands_beside_the_finding_that_predicts_it_and_nothing_else_fails(report: Report) -> None:
    found = {(each.file, each.line, finding.rule) for finding in report.findings for each in finding.failures}
    found |= {(each.file, each.line, "unpredicted") for each in report.unpredicted}
    assert found == marked()
    assert report.user_code is not None
    assert (report.user_code.folder, report.user_code.files) == (USER_CODE, len(CODE))
    assert report.user_code.failures == len(marked())


@pytest.mark.xdist_group("user code")
def test_a_failure_is_beside_the_finding_about_what_it_names(report: Report) -> None:
    subjects = {each.source: finding.subject for finding in report.findings for each in finding.failures}
    assert subjects["from acp_bindings.v1 import SetModeRequest  # definition-removed"] == "SetModeRequest"
    assert subjects["from acp_bindings.v1 import SetModeResponse  # definition-removed"] == "SetModeResponse"
    assert subjects["await agent.session_set_mode()  # method-removed"] == "agent session/set_mode request"
    assert subjects["assert_never(mood)  # enum-closed-value-added"] == "Mood"


@pytest.mark.xdist_group("user code")
def test_every_output_has_each_failure_with_its_line(report: Report) -> None:
    failures = [*report.unpredicted, *(each for finding in report.findings for each in finding.failures)]
    shown = {
        "terminal": terminal(report, colour=False),
        "markdown": markdown(report),
        "json": machine(report).replace('\\"', '"'),
        "html": unescape(html(report)),
        "github": github(report),
    }
    for name, text in shown.items():
        for each in failures:
            assert each.message in text, name
            source = each.source if name != "markdown" else " ".join(each.source.split())
            assert (source in text) is (name != "github"), name
        assert ("userCode" if name == "json" else UNPREDICTED) in unquote(text), name


@pytest.mark.xdist_group("user code")
def test_the_json_is_as_its_schema_says(report: Report) -> None:
    found = json.loads(machine(report))
    jsonschema.validate(found, SCHEMA)
    _, alarm = found["userCode"]["unpredicted"]
    assert alarm["source"] == "from acp_runtime import GONE  # unpredicted"
    (removed,) = [each for each in found["findings"] if each["rule"] == "property-required-removed"]
    assert [(each["file"], each["line"]) for each in removed["failures"]] == [(f"{USER_CODE}/read.py", 6)]


@pytest.mark.xdist_group("user code")
def test_an_annotation_is_a_warning_where_it_was_predicted_and_else_an_error(report: Report) -> None:
    lines = [line for line in github(report).splitlines() if USER_CODE in line]
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(lines) == len(marked())
    assert len(errors) == 2
    assert errors[1].startswith(f"::error file={USER_CODE}/runtime.py,line=3,title=")


@pytest.mark.xdist_group("user code")
def test_a_report_without_user_code_says_nothing_of_it(report: Report) -> None:
    findings = tuple(replace(each, failures=()) for each in report.findings)
    plain = replace(report, findings=findings, user_code=None)
    assert json.loads(machine(plain))["userCode"] is None
    jsonschema.validate(json.loads(machine(plain)), SCHEMA)
    assert "User code" not in terminal(plain, colour=False) + markdown(plain) + html(plain) + github(plain)


# Everything of a release


@pytest.mark.stress
@pytest.mark.parametrize("pair", sample([("1.7.0", "1.8.0"), ("1.8.0", "1.9.0")], 1), ids="..".join)
def test_whatever_fails_in_code_that_uses_everything_of_a_release_is_predicted(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    old, new = map(schemas_of, pair)
    profiles = read_side(str(old), tmp_path).profiles
    code = {f"{name}_.py": everything(name, snapshot.schema) for name, snapshot in profiles.items()}
    found = checked(repository(tmp_path / "repository", old, code), new)
    assert found.user_code is not None
    assert found.user_code.failures > 5
    assert found.unpredicted == ()


# The command


def test_an_unpredicted_failure_fails_though_nothing_changed_in_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = repository(tmp_path / "repository", before(tmp_path), {"runtime.py": CODE["runtime.py"]})
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", folder)
    arguments = ["diff", "--base", "HEAD", "--head", str(folder / "schema"), "--fail-on", "breaking"]
    assert main(arguments) == 0
    assert "User code" not in capsys.readouterr().out
    assert main([*arguments, "--user-code", f"{USER_CODE}/"]) == 1
    out = capsys.readouterr().out
    assert UNPREDICTED in out
    assert f"{USER_CODE}/runtime.py:3: " in out
    assert "User code: 1 failure in 1 file, 1 that no finding predicts." in out


BAD: dict[str, tuple[str, str, str]] = {
    "a folder that isn't there": ("nowhere", "x.py", "has no nowhere"),
    "a folder without Python": ("schema", "x.py", "no folder with Python files"),
    "a file": (f"{USER_CODE}/x.py", "x.py", "no folder with Python files"),
    "code that is no Python": (USER_CODE, "broken.py", "user/code/broken.py of HEAD"),
    "code that no type checker takes": (USER_CODE, "typing.py", "mypy can't check user/code"),
}


@pytest.mark.parametrize(("folder", "name", "expected"), BAD.values(), ids=BAD)
def test_user_code_that_cannot_be_checked_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: str,
    name: str,
    expected: str,
) -> None:
    home = repository(tmp_path / "repository", before(tmp_path), {name: "def" if name == "broken.py" else "X = 1\n"})
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", home)
    code = main(["diff", "--base", "HEAD", "--head", str(home / "schema"), "--user-code", folder])
    out, err = capsys.readouterr()
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert expected in err


def test_a_folder_has_no_user_code_as_of_the_base(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(before(tmp_path))
    assert main(["diff", "--base", folder, "--head", folder, "--user-code", USER_CODE]) == 2
    assert "Give a git ref as base." in capsys.readouterr().err
