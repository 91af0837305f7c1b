"""Either side may be a git ref. It is read with its own data files, even if their format is older or newer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from codegen.__main__ import main
from codegen.data.facts_file import METHODS_TOML
from codegen.data.renames import FILE as RENAMES, Rename, to_toml
from codegen.diff.git import branch
from tests.codegen.diff.report_schema import SCHEMA as REPORT
from tests.support.codegen.build import STRING, Schema, acp_schema, model, request, write_schema
from tests.support.diff.cases import around, holds
from tests.support.diff.repository import commit
from tests.support.git import git

pytestmark = pytest.mark.slow

CURRENT = METHODS_TOML.read_text("utf-8")
BASE = around("request", model())
RENAMED = BASE | request("session/mode_before", "SetMode", holds(STRING))
NOW = BASE | request("session/set_mode", "SetMode", holds(STRING))
BEFORE = CURRENT.replace('"session/set_mode"', '"session/mode_before"')
Repository = Callable[..., Path]
Compare = Callable[..., tuple[int, str, str]]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Make a repository with one commit of these schemas and this `methods.toml`, which None leaves out."""

    def write(definitions: Schema, methods: str | None = CURRENT) -> Path:
        folder = tmp_path / "repository"
        write_schema(folder / "schema", acp_schema(definitions))
        if methods is not None:
            (folder / "codegen").mkdir(exist_ok=True)
            (folder / "codegen/methods.toml").write_text(methods, "utf-8")
        commit(folder)
        monkeypatch.setattr("codegen.diff_command.REPOSITORY", folder)
        return folder

    return write


@pytest.fixture
def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Compare the commit with other schemas. `ref_is`: the side of the commit."""

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
    data: dict[str, Any] = json.loads(out)
    jsonschema.validate(data, REPORT)
    return data


def refused(compare: Compare) -> str:
    """Compare, which must fail, and return the line on stderr."""
    code, out, err = compare(NOW)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


def rules(found: dict[str, Any]) -> list[str]:
    return [finding["rule"] for finding in found["findings"]]


def test_a_checkout_without_a_branch_is_called_head(repository: Repository) -> None:
    folder = repository(BASE)
    git(folder, "checkout", "-q", "-b", "work")
    assert branch(folder) == "work"
    git(folder, "checkout", "-q", "--detach")
    assert branch(folder) == "HEAD"


@pytest.mark.parametrize("ref_is", ["base", "head"])
def test_a_method_that_only_the_refs_file_has_can_be_a_renamed_method(
    repository: Repository, compare: Compare, ref_is: str
) -> None:
    repository(RENAMED, BEFORE)
    comparison = report(compare, NOW, ref_is)
    assert (rules(comparison), comparison["notes"]) == (["method-renamed"], [])


def test_the_old_names_in_the_refs_own_file_are_read(repository: Repository, compare: Compare) -> None:
    folder = repository(NOW)
    entry = Rename(("v1",), "ModeBefore", "SetModeRequest", "9.0.0")
    (folder / RENAMES).write_text(to_toml(entry), "utf-8")
    commit(folder)
    comparison = report(compare, NOW, "base")
    assert [(finding["rule"], finding["symbols"]) for finding in comparison["findings"]] == [
        ("definition-old-name-removed", ["acp_bindings.v1.ModeBefore"])
    ]
    assert report(compare, NOW, "head")["findings"] == []


def test_a_broken_renames_file_of_a_ref_gives_one_error_line(repository: Repository, compare: Compare) -> None:
    folder = repository(NOW)
    (folder / RENAMES).write_text("[[renamed]]\n", "utf-8")
    commit(folder)
    message = "codegen: HEAD can't be read: codegen/renames.toml#/renamed/0/profiles: The key is missing."
    assert refused(compare).startswith(message)


@pytest.mark.parametrize("ref_is", ["base", "head"])
def test_the_facts_in_the_refs_own_file_are_compared(repository: Repository, compare: Compare, ref_is: str) -> None:
    before = '"session/set_mode" = { offered = "the session came with modes" }'
    assert before in CURRENT
    repository(NOW, CURRENT.replace(before, '"session/set_mode" = { baseline = true }'))
    expected = "method-baseline-lost" if ref_is == "base" else "method-baseline-gained"
    assert rules(report(compare, NOW, ref_is)) == [expected]


def test_a_capability_that_the_refs_schema_lacks_is_still_compared(repository: Repository, compare: Compare) -> None:
    repository(NOW, CURRENT.replace('{ offered = "the session came with modes" }', '{ capability = "modes.all" }'))
    comparison = report(compare, NOW)
    assert [(finding["rule"], finding["before"]) for finding in comparison["findings"]] == [
        ("method-capability-changed", "modes.all")
    ]


def entry(text: str) -> str:
    """Return the current file with another entry for `session/set_mode`."""
    return CURRENT.replace('"session/set_mode" = { offered = "the session came with modes" }', text)


UNREADABLE = {
    "an unknown key": entry('"session/set_mode" = { offered = "modes", someday = true }'),
    "an entry of another kind": entry('"session/set_mode" = ["capability", "modes"]'),
    "a place of another type": CURRENT.replace("[v1.places]\n", '[v1.places]\n"X.y" = { needs = ["a"] }\n'),
    "tables in another order": '[agent.v1]\n"session/new" = { baseline = true }\n',
    "not TOML": "<<<<<<< HEAD\n",
    "no file": None,
}


@pytest.mark.parametrize("methods", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_of_another_format_is_replaced_by_the_current_one_with_a_note(
    repository: Repository, compare: Compare, methods: str | None
) -> None:
    repository(NOW, methods)
    note = "codegen/methods.toml of HEAD is missing or can't be read, so the current one is used."
    comparison = report(compare, NOW)
    assert (comparison["findings"], comparison["notes"]) == ([], [note])
    assert note in compare(NOW, ref_is="head")[1]


def test_the_facts_about_a_method_without_an_entry_are_unknown(repository: Repository, compare: Compare) -> None:
    repository(NOW, entry(""))
    assert report(compare, NOW)["findings"] == []


def test_a_ref_without_schemas_gives_one_error_line(tmp_path: Path, repository: Repository, compare: Compare) -> None:
    folder = repository(NOW)
    (folder / "schema/v1/schema.json").rename(folder / "elsewhere.json")
    commit(folder)
    assert re.search("HEAD.*schema", refused(compare))


def test_another_checkout_is_read_with_its_own_methods_file(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = repository(RENAMED, BEFORE)
    now = str(write_schema(tmp_path / "now", acp_schema(NOW)))
    monkeypatch.setattr("codegen.diff_command.REPOSITORY", tmp_path)
    assert main(["diff", "--base", str(folder), "--head", now]) == 0
    assert "The method's name on the wire changed." in capsys.readouterr().out


def test_outside_of_a_git_repository_the_error_suggests_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For example in an unpacked sdist."""
    monkeypatch.setattr("codegen.diff_command.REPOSITORY", tmp_path)
    assert main(["diff", "--base", "main"]) == 2
    error = capsys.readouterr().err
    assert "Git refs can't be read here: not a git repository" in error
    assert "Compare two folders" in error
