"""Old names in a generated package: they work, warn on the user's line, and cost nothing if there are none."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from codegen.data.renames import Rename, find_unused_renames, keep_old_names
from codegen.errors import FileError
from codegen.files import read_files
from codegen.ir import Schema
from codegen.regen import read_schema, regenerate
from tests.support.codegen.build import acp_schema, model, write_schema
from tests.support.codegen.generating import bindings_in
from tests.support.codegen.old_names import DEFINITIONS, PROGRAM, RENAMES, UNTIL, generate_with, write_renames


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_with(tmp_path_factory.mktemp("renamed"), *RENAMES)


def run(generated: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env={"PYTHONPATH": str(generated)}, capture_output=True, text=True, check=False, timeout=100
    )


def schema() -> Schema:
    return read_schema(acp_schema(DEFINITIONS), "v1")


def definition(old: str, new: str) -> Rename:
    return Rename(("v1",), old, new, UNTIL)


def test_code_with_old_names_works_and_each_of_its_lines_warns_once(generated: Path) -> None:
    with bindings_in(generated), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runpy.run_path(str(PROGRAM), run_name="__main__")
    lines = PROGRAM.read_text("utf-8").splitlines()
    expected = [number for number, line in enumerate(lines, 1) if line.endswith("# W")]
    assert sorted(warning.lineno for warning in caught) == expected
    assert {(warning.filename, warning.category) for warning in caught} == {(str(PROGRAM), DeprecationWarning)}


def test_a_warning_that_is_an_error_stops_on_the_line_of_the_user(generated: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("pass\nfrom acp_bindings.v1 import OldBlock\n", "utf-8")
    done = run(generated, "-W", "error::DeprecationWarning", str(program))
    last = [line.strip() for line in done.stderr.splitlines()]
    assert f'File "{program}", line 2, in <module>' in last
    message = f"OldBlock is Block now. The old name will be removed in acp-bindings {UNTIL}."
    assert last[-1] == f"DeprecationWarning: acp_bindings.v1.{message}"


def test_without_old_names_nothing_is_generated_for_them(tmp_path: Path) -> None:
    for name, content in read_files(generate_with(tmp_path)).items():
        assert not re.search(rb"old_names", content), name


def test_members_of_a_renamed_union_keep_their_old_names_unless_upstream_has_them() -> None:
    kept = keep_old_names(schema(), "v1", [definition("Old", "Block")])
    assert [(name.old, name.new) for name in kept.old_names] == [
        ("OldText", "BlockText"),
        ("OldOther", "BlockOther"),
        ("Old", "Block"),
    ]
    taken = read_schema(acp_schema({**DEFINITIONS, "OldText": model()}), "v1")
    kept = keep_old_names(taken, "v1", [definition("Old", "Block")])
    assert [name.old for name in kept.old_names] == ["OldOther", "Old"]


def test_an_entry_for_a_member_counts_before_that_for_its_union() -> None:
    kept = keep_old_names(schema(), "v1", [definition("Old", "Block"), definition("OldText", "Words")])
    assert {name.old: name.new for name in kept.old_names} == {
        "Old": "Block",
        "OldOther": "BlockOther",
        "OldText": "Words",
    }


UNUSED = {
    "unknown definition": (definition("Old", "Nothing"), "In v1, there is no definition 'Nothing'."),
    "old definition exists": (definition("Size", "Block"), "In v1, there is a definition of the old name."),
    "no schema": (Rename(("v2_draft",), "Old", "Block", UNTIL), "In v2_draft, no schema is pinned."),
}


@pytest.mark.parametrize(("rename", "reason"), UNUSED.values(), ids=UNUSED)
def test_an_entry_that_does_not_fit_the_schema_has_no_effect(rename: Rename, reason: str) -> None:
    assert keep_old_names(schema(), "v1", [rename]) == schema()
    assert find_unused_renames({"v1": schema()}, [rename]) == [f"definition {rename.old!r}: {reason}"]


IMPOSSIBLE = {
    "name of something generated": ([definition("Agent", "Block")], "'Agent' can't be the name of a class here."),
    "no name of a class": ([definition("old", "Block")], "'old' can't be the name of a class here."),
}


@pytest.mark.parametrize(("renames", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_old_name_that_python_code_can_not_have_is_refused(renames: list[Rename], message: str) -> None:
    with pytest.raises(FileError, match=re.escape(message)):
        keep_old_names(schema(), "v1", renames)


def test_an_overdue_entry_stops_the_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overdue = Rename(("v1",), "Old", "Block", "0.0.1")
    monkeypatch.setattr("codegen.regen.RENAMES_TOML", write_renames(tmp_path / "renames.toml", overdue))
    with pytest.raises(FileError, match=r"The old name ends with 0\.0\.1, and this is version"):
        regenerate(write_schema(tmp_path / "schema", acp_schema(DEFINITIONS)), tmp_path / "generated", pinned=False)
    assert not (tmp_path / "generated").exists()
