"""The report as annotations of GitHub Actions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.regen import regenerate
from tests.support.codegen.build import STRING, Schema, acp_schema, model, write_schema
from tests.support.diff.cases import around

BEFORE = model(cwd=STRING, label=STRING, gone=STRING)
AFTER = model(["cwd"], cwd=STRING, label={"type": "integer"})


@pytest.fixture
def annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the annotations for a repository whose schema has changed from `BEFORE` to `AFTER`."""

    def write(folder: str, definition: Schema) -> Path:
        return write_schema(tmp_path / folder, acp_schema(around("request", definition)))

    regenerate(write("schema", AFTER), tmp_path / "generated", pinned=False)
    monkeypatch.setattr("codegen.diff_command.REPOSITORY", tmp_path)
    base, head = str(write("base", BEFORE)), str(tmp_path / "schema")
    assert main(["diff", "--base", base, "--head", head, "--format", "github", "--fail-on", "breaking"]) == 1
    return capsys.readouterr().out.splitlines()


def test_each_breaking_change_is_on_its_line_of_the_schema_and_of_the_class(
    annotations: list[str], tmp_path: Path
) -> None:
    suffixes: dict[str, list[str]] = {"NewSessionRequest.cwd": [], "NewSessionRequest.label": []}
    for annotation in annotations[:-1]:
        match = re.fullmatch(r"::error file=(.*),line=(\d+),title=(.*?) \(.*?\)::(.*)", annotation)
        assert match
        file, number, subject, text = match.groups()
        if subject in suffixes:
            suffixes[subject].append(Path(file).suffix)
            name = subject.removeprefix("NewSessionRequest.")
            assert name in (tmp_path / file).read_text("utf-8").splitlines()[int(number) - 1]
            assert "%0A" in text
    for names in suffixes.values():
        assert sorted(names) == [".json", ".py"]


def test_what_is_gone_is_on_the_line_of_its_class(annotations: list[str], tmp_path: Path) -> None:
    (line,) = [annotation for annotation in annotations if "title=NewSessionRequest.gone" in annotation]
    file, number = re.findall(r"file=(.*),line=(\d+)", line)[0]
    assert (tmp_path / file).read_text("utf-8").splitlines()[int(number) - 1] == "class NewSessionRequest(Model):"


def test_the_last_line_says_who_has_to_act(annotations: list[str]) -> None:
    assert annotations[-1] == "Clients have to act on 3 breaking changes, agents on 2."
