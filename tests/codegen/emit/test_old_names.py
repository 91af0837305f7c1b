"""Old names in a generated package: they work, warn on the user's line, and cost nothing if there are none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.errors import FileError
from codegen.files import read_files
from codegen.ir import Schema
from codegen.read.old_names import keep_old_names, unused_renames
from codegen.read.renames_file import Rename
from codegen.regen import read_schema, regenerate
from tests.support.codegen.build import acp_schema, model, part_of, write_schema
from tests.support.codegen.old_names import DEFINITIONS, PROGRAM, RENAMES, UNTIL, generate_with, write_renames
from tests.support.paths import ROOT

_RECORD = ROOT / "tests/support/codegen/record_warnings.py"


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
    return Rename("definition", ("v1",), old, new, UNTIL)


def method(old: str, new: str, side: str = "agent") -> Rename:
    return Rename("method", ("v1",), old, new, UNTIL, side)


def test_code_with_old_names_works_and_each_of_its_lines_warns_once(generated: Path) -> None:
    done = run(generated, str(_RECORD), str(PROGRAM))
    assert not done.returncode, done.stderr
    found = json.loads(done.stdout)
    lines = PROGRAM.read_text("utf-8").splitlines()
    expected = [number for number, line in enumerate(lines, 1) if line.endswith("# W")]
    assert sorted(line for _, line, _, _ in found) == expected
    assert {(file, category) for file, _, _, category in found} == {(str(PROGRAM), "DeprecationWarning")}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("from acp_bindings.v1 import OldBlock", "OldBlock is Block now."),
        ("from acp_bindings.v1.methods import SESSION_STOP", "methods.SESSION_STOP is SESSION_CANCEL now."),
    ],
)
def test_a_warning_that_is_an_error_stops_on_the_line_of_the_user(
    generated: Path, tmp_path: Path, code: str, message: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"pass\n{code}\n", "utf-8")
    done = run(generated, "-W", "error::DeprecationWarning", str(program))
    last = [line.strip() for line in done.stderr.splitlines()]
    assert f'File "{program}", line 2, in <module>' in last
    assert last[-1].startswith("DeprecationWarning: acp_bindings.v1.")
    assert last[-1].endswith(f".{message} The old name will be removed in acp-bindings {UNTIL}.")


def test_without_old_names_nothing_is_generated_for_them(tmp_path: Path) -> None:
    for name, content in read_files(generate_with(tmp_path)).items():
        assert not re.search(rb"old_names|typing_extensions|deprecated", content), name


def test_members_of_a_renamed_union_keep_their_old_names_unless_upstream_has_them() -> None:
    kept = keep_old_names(schema(), "v1", [definition("Old", "Block")])
    assert [(each.old, each.new) for each in kept.old_names] == [
        ("OldText", "BlockText"),
        ("OldOther", "BlockOther"),
        ("Old", "Block"),
    ]
    taken = read_schema(acp_schema({**DEFINITIONS, "OldText": model()}), "v1")
    kept = keep_old_names(taken, "v1", [definition("Old", "Block")])
    assert [each.old for each in kept.old_names] == ["OldOther", "Old"]


def test_an_entry_for_a_member_counts_before_that_for_its_union() -> None:
    kept = keep_old_names(schema(), "v1", [definition("Old", "Block"), definition("OldText", "Words")])
    assert {each.old: each.new for each in kept.old_names} == {
        "Old": "Block",
        "OldOther": "BlockOther",
        "OldText": "Words",
    }


UNUSED = {
    "unknown definition": (definition("Old", "Nothing"), "In v1, there is no definition 'Nothing'."),
    "unknown method": (method("a/b", "a/c"), "In v1, there is no method of side 'agent' 'a/c'."),
    "method of another side": (
        method("a/b", "session/update"),
        "In v1, there is no method of side 'agent' 'session/update'.",
    ),
    "old definition exists": (definition("Size", "Block"), "In v1, there is a definition of the old name."),
    "old method exists": (
        method("session/load", "session/new"),
        "In v1, there is a method of side 'agent' of the old name.",
    ),
    "no schema": (Rename("definition", ("v2_draft",), "Old", "Block", UNTIL), "In v2_draft, no schema is pinned."),
}


@pytest.mark.parametrize(("rename", "reason"), UNUSED.values(), ids=UNUSED)
def test_an_entry_that_does_not_fit_the_schema_has_no_effect(rename: Rename, reason: str) -> None:
    assert keep_old_names(schema(), "v1", [rename]) == schema()
    assert unused_renames({"v1": schema()}, [rename]) == [f"{rename.kind} {rename.old!r}: {reason}"]


IMPOSSIBLE = {
    "name of something generated": ([definition("Agent", "Block")], "'Agent' can't be the name of a class here."),
    "no name of a class": ([definition("old", "Block")], "'old' can't be the name of a class here."),
    "no name of a method": ([method("class", "session/new")], "It gives 'class', which can't be the name of a method."),
    "name of another method": ([method("session/Load", "session/new")], "It gives the name SESSION_LOAD, which"),
    "same name in Python": ([method("session/New", "session/new")], "Both names give 'session_new' in Python"),
    "the same old name twice": (
        [method("a/b", "session/new"), method("a/B", "session/load")],
        "'a/B': It gives the name A_B, which something else has.",
    ),
}


@pytest.mark.parametrize(("renames", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_old_name_that_python_code_can_not_have_is_refused(renames: list[Rename], message: str) -> None:
    with pytest.raises(FileError, match=re.escape(message)):
        keep_old_names(schema(), "v1", renames)


def test_an_overdue_entry_stops_the_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overdue = Rename("definition", ("v1",), "Old", "Block", "0.0.1")
    monkeypatch.setattr("codegen.regen.RENAMES_TOML", write_renames(tmp_path / "renames.toml", overdue))
    with pytest.raises(FileError, match=r"The name goes in 0\.0\.1, and this is version"):
        regenerate(write_schema(tmp_path / "schema", acp_schema(DEFINITIONS)), tmp_path / "generated", pinned=False)
    assert not (tmp_path / "generated").exists()


def test_a_notification_that_shares_its_name_with_a_request_has_a_longer_old_name() -> None:
    both = {
        **DEFINITIONS,
        "MessageRequest": part_of("mcp/message", "both", model()),
        "MessageResponse": part_of("mcp/message", "both", model()),
        "MessageNotification": part_of("mcp/message", "both", model()),
    }
    kept = keep_old_names(read_schema(acp_schema(both), "v1"), "v1", [method("mcp/msg", "mcp/message", "both")])
    assert [(old.name, old.constant) for each in kept.methods for old in each.old_names] == [
        ("mcp_msg", "MCP_MSG"),
        ("mcp_msg_notification", "MCP_MSG_NOTIFICATION"),
    ]
