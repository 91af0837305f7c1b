"""Both sides may be a git ref: it is read with its own data files, however old or new their format is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from codegen.__main__ import main
from codegen.read.methods import METHODS_TOML
from tests.codegen.diff.cases.methods import request
from tests.support.codegen.build import Schema, acp_schema, model, part_of, write_schema
from tests.support.diff.case import around, holds
from tests.support.diff.report import SCHEMA as REPORT
from tests.support.diff.repository import commit

STRING: Schema = {"type": "string"}
TODAY = METHODS_TOML.read_text("utf-8")
BASE = around("request", model())
RENAMED = BASE | request("session/mode_before", "SetMode", params=holds(STRING))
NOW = BASE | request("session/set_mode", "SetMode", params=holds(STRING))
BEFORE = TODAY.replace('"session/set_mode"', '"session/mode_before"')
Repository = Callable[..., Path]
Compare = Callable[..., tuple[int, str, str]]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with one commit of these schemas and this `methods.toml` (None: without that file)."""

    def write(definitions: Schema, methods: str | None = TODAY) -> Path:
        folder = tmp_path / "repository"
        write_schema(folder / "schema", acp_schema(definitions))
        if methods is not None:
            (folder / "codegen").mkdir(exist_ok=True)
            (folder / "codegen/methods.toml").write_text(methods, "utf-8")
        commit(folder)
        monkeypatch.setattr("codegen.diff.command.REPOSITORY", folder)
        return folder

    return write


@pytest.fixture
def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Compare the commit with other schemas, or the reverse."""

    def run(definitions: Schema, *options: str, ref_is: str = "base") -> tuple[int, str, str]:
        other = str(write_schema(tmp_path / "other", acp_schema(definitions)))
        base, head = ("HEAD", other) if ref_is == "base" else (other, "HEAD")
        code = main(["diff", "--base", base, "--head", head, *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def report(compare: Compare, definitions: Schema, ref_is: str = "base") -> dict[str, Any]:
    code, out, err = compare(definitions, "--format", "json", ref_is=ref_is)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    jsonschema.validate(found, REPORT)
    return found


def rules(found: dict[str, Any]) -> list[str]:
    return [each["rule"] for each in found["findings"]]


@pytest.mark.parametrize("ref_is", ["base", "head"])
def test_a_method_that_only_the_ref_knows_is_a_renamed_method(
    repository: Repository, compare: Compare, ref_is: str
) -> None:
    repository(RENAMED, BEFORE)
    found = report(compare, NOW, ref_is)
    assert (rules(found), found["notes"]) == (["method-renamed"], [])


@pytest.mark.parametrize("ref_is", ["base", "head"])
def test_what_the_refs_own_file_says_of_a_method_is_compared(
    repository: Repository, compare: Compare, ref_is: str
) -> None:
    before = '"session/set_mode" = { offered = "the session came with modes" }'
    assert before in TODAY
    repository(NOW, TODAY.replace(before, '"session/set_mode" = { baseline = true }'))
    expected = "method-baseline-lost" if ref_is == "base" else "method-baseline-gained"
    assert rules(report(compare, NOW, ref_is)) == [expected]


def test_a_capability_that_the_refs_schema_lacks_is_compared_all_the_same(
    repository: Repository, compare: Compare
) -> None:
    repository(NOW, TODAY.replace('{ offered = "the session came with modes" }', '{ capability = "modes.all" }'))
    found = report(compare, NOW)
    assert [(each["rule"], each["before"]) for each in found["findings"]] == [
        ("method-capability-changed", "modes.all")
    ]


OLDER = """
[v1.agent]
"session/new" = { baseline = true }
"session/set_mode" = { offered = "the session came with modes" }
[v1.client]
"session/update" = { baseline = true }
"""


@pytest.mark.parametrize("ref_is", ["base", "head"])
def test_facts_that_a_ref_does_not_have_yet_are_no_difference_and_the_report_says_so(
    repository: Repository, compare: Compare, ref_is: str
) -> None:
    repository(NOW, OLDER)
    found = report(compare, NOW, ref_is)
    note = "doesn't have all facts yet; today's file says them: creates, paths, properties."
    assert (found["findings"], found["notes"]) == ([], [f"codegen/methods.toml of HEAD {note}"])


def test_a_line_that_lost_a_fact_is_a_finding_though_other_lines_have_it(
    repository: Repository, compare: Compare
) -> None:
    schema = NOW | {"NewSessionResponse": part_of("session/new", "agent", model(sessionId=STRING))}
    before = next(each for each in TODAY.splitlines() if each.startswith('"session/new"'))
    repository(schema, TODAY.replace(before, '"session/new" = { baseline = true }', 1))
    assert rules(report(compare, schema)) == ["method-creates-changed"]


def line(text: str) -> str:
    """Today's file with another line for `session/set_mode`."""
    return TODAY.replace('"session/set_mode" = { offered = "the session came with modes" }', text)


UNREADABLE = {
    "a key that is unknown here": (
        line('"session/set_mode" = { offered = "modes", someday = true }'),
        "codegen/methods.toml of HEAD has keys that this codegen doesn't know and doesn't compare: someday.",
    ),
    "a line of another kind": (
        line('"session/set_mode" = ["capability", "modes"]'),
        "codegen/methods.toml of HEAD has lines that this codegen can't read; what unlocks them is taken from today's "
        "file: session/set_mode.",
    ),
    "a value of another type": (
        line('"session/set_mode" = { capability = ["a", "b"] }'),
        "codegen/methods.toml of HEAD has lines that this codegen can't read; what unlocks them is taken from today's "
        "file: session/set_mode.",
    ),
    "content of another type": (
        line('"session/set_mode" = { content = { x = ["a"] } }'),
        "codegen/methods.toml of HEAD has lines that this codegen can't read; what unlocks them is taken from today's "
        "file: session/set_mode.",
    ),
    "no line": (
        line(""),
        "codegen/methods.toml of HEAD has no line for some methods; what unlocks them is taken from today's file: "
        "session/set_mode.",
    ),
    "tables in another order": (
        '[agent.v1]\n"session/new" = { baseline = true }\n',
        "codegen/methods.toml of HEAD has no line for some methods; what unlocks them is taken from today's file: "
        "session/new, session/set_mode, session/update.",
    ),
    "no file": (
        None,
        "HEAD has no codegen/methods.toml: for all its methods what unlocks them is taken from today's file.",
    ),
}


@pytest.mark.parametrize("ref_is", ["base", "head"])
@pytest.mark.parametrize(("methods", "note"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_of_another_format_is_compared_as_far_as_it_can_be_read_and_the_report_says_so(
    repository: Repository, compare: Compare, methods: str | None, note: str, ref_is: str
) -> None:
    repository(NOW, methods)
    found = report(compare, NOW, ref_is)
    assert (found["findings"], found["notes"]) == ([], [note])


@pytest.mark.parametrize("style", ["terminal", "markdown", "html", "github"])
def test_every_format_has_the_note(repository: Repository, compare: Compare, style: str) -> None:
    repository(NOW, None)
    assert "has no codegen/methods.toml" in compare(NOW, "--format", style)[1]


def test_a_ref_whose_methods_are_not_toml_is_one_sentence(repository: Repository, compare: Compare) -> None:
    repository(NOW, "<<<<<<< HEAD\n")
    code, out, err = compare(NOW)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "HEAD can't be read: codegen/methods.toml is not TOML" in err


def test_a_ref_without_schemas_is_one_sentence(tmp_path: Path, repository: Repository, compare: Compare) -> None:
    folder = repository(NOW)
    (folder / "schema/v1/schema.json").rename(folder / "elsewhere.json")
    commit(folder)
    code, out, err = compare(NOW)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "HEAD" in err
    assert "schema" in err


def test_another_checkout_is_read_with_its_own_file(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = repository(RENAMED, BEFORE)
    now = str(write_schema(tmp_path / "now", acp_schema(NOW)))
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", tmp_path)
    assert main(["diff", "--base", str(folder), "--head", now]) == 0
    assert "The method has another name on the wire." in capsys.readouterr().out


def test_a_folder_that_is_no_repository_has_no_refs_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as an unpacked sdist."""
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", tmp_path)
    assert main(["diff", "--base", "main"]) == 2
    error = capsys.readouterr().err
    assert "A git ref can't be read here: not a git repository" in error
    assert "Compare two folders" in error


def test_the_refs_of_a_repository_around_it_are_not_its_own(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = repository(NOW) / "unpacked"
    inside.mkdir()
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", inside)
    assert main(["diff", "--base", "HEAD"]) == 2
    assert "is not part of the git repository that it is in" in capsys.readouterr().err


def test_a_package_kept_in_a_folder_of_a_larger_repository_has_its_refs(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = repository(RENAMED, BEFORE)
    for name in ("schema", "codegen"):
        (folder / "packages").mkdir(exist_ok=True)
        (folder / name).rename(folder / "packages" / name)
    commit(folder)
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", folder / "packages")
    assert main(["diff", "--base", "HEAD", "--head", str(write_schema(tmp_path / "now", acp_schema(NOW)))]) == 0
    assert "The method has another name on the wire." in capsys.readouterr().out
