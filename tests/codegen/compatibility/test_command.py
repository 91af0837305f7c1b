"""`python -m codegen compatibility` writes the page, and fails if the report is incomplete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.compatibility.check import Result
from codegen.compatibility.command import PACKAGE, compatibility_page
from codegen.diff.sources import Side
from codegen.diff.verdict.findings import Failure
from codegen.pinned.pins import sha256
from tests.support.codegen.build import acp_schema, model, write_schema

BAD = Failure("read_Text_text", 1, "", "It is wrong")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository whose pinned release is 1.4.0, with the downloaded releases 1.3.0 to 1.4.0."""
    for folder in ("schema", "build/releases/1.3.0", "build/releases/1.3.1", "build/releases/1.4.0"):
        text = {"Text": model()} | ({"More": model()} if folder.endswith(("schema", "1.4.0")) else {})
        write_schema(tmp_path / folder, acp_schema(text))
    file = {"v1/schema.json": {"sha256": sha256((tmp_path / "schema/v1/schema.json").read_bytes())}}
    pins = {"source": f"npm:{PACKAGE}@1.4.0", "version": "1.4.0", "files": file}
    (tmp_path / "schema/PINNED.json").write_text(json.dumps(pins), "utf-8")
    (tmp_path / "docs/project").mkdir(parents=True)
    monkeypatch.setattr("codegen.compatibility.command.REPOSITORY", tmp_path)
    monkeypatch.setattr(
        "codegen.compatibility.command.npm_versions", lambda _: ["1.2.0", "1.3.1", "1.3.0", "1.4.0", "1.4.1"]
    )
    return tmp_path


@pytest.mark.parametrize(("failures", "code"), [((), 0), ((BAD,), 1)], ids=["complete", "incomplete"])
def test_the_page_is_written_and_an_unpredicted_failure_gives_exit_code_1(
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failures: tuple[Failure, ...],
    code: int,
) -> None:
    results: list[Result] = []

    def check(old: list[tuple[str, Side]], head: Side, packages: list[Path]) -> list[Result]:
        assert packages == [repository / "generated", repository / "runtime"]
        assert "More" in head.profiles["v1"].schema.definitions
        results.extend(Result(label, "v1", 4, dict.fromkeys(failures, ()), set()) for label, _ in old)
        return results

    monkeypatch.setattr("codegen.compatibility.command.check_old_code", check)
    assert main(["compatibility"]) == code
    assert [each.release for each in results] == ["1.3.0 to 1.3.1", "1.4.0"]
    assert (repository / "docs/project/compatibility.md").read_text("utf-8") == compatibility_page(results, "1.4.0")
    survive = 4 - len(failures)
    expected = [f"{each.release} v1: {survive} of 4 uses survive" for each in results]
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if not line.startswith(" ")] == expected
    assert printed.count("  read_Text_text: no finding predicts: It is wrong") == code * len(results)
