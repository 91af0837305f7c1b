"""Generating from the pinned schemas gives the committed packages, byte for byte. `check` reports differences."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.__main__ import GENERATED, ROOT, main
from codegen.emit.modules import HEADER
from codegen.regen import regenerate
from tests.support.codegen.build import STRING, acp_schema, model, tree, write_schema
from tests.support.codegen.pinning import FILE, pin
from tests.support.programs import run_command


@pytest.mark.test_all
@pytest.mark.slow
def test_the_committed_packages_are_up_to_date_whatever_the_hash_seed(tmp_path: Path) -> None:
    copy = tmp_path / "generated"
    shutil.copytree(GENERATED, copy, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "codegen", "regen", "--output", str(copy)]
    printed = run_command(*command, cwd=tmp_path, PYTHONHASHSEED="4294967295", PYTHONPATH=str(ROOT))
    assert printed == "nothing changed\n"
    assert tree(copy) == tree(GENERATED)


def test_the_folder_holds_only_generated_files_with_their_header() -> None:
    for path, content in tree(GENERATED).items():
        assert path.partition("/")[0] == "acp_bindings"
        if content != b"/":
            assert content.startswith(f"{HEADER}\n".encode()) or (path, content) == ("acp_bindings/py.typed", b"")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("small")
    folder = write_schema(home / "schema", acp_schema({"Text": model(["text"], text=STRING)}), FILE)
    pin(folder)
    regenerate(folder, home / "out")
    return home


@pytest.fixture
def small(generated: Path, tmp_path: Path) -> Path:
    """A folder with a pinned schema in `schema` and its packages in `out`."""
    return shutil.copytree(generated, tmp_path / "small")


def check(small: Path) -> int:
    return main(["check", "--schema", str(small / "schema"), "--output", str(small / "out")])


def test_check_prints_nothing_if_nothing_differs(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(small) == 0
    assert capsys.readouterr().out == ""


def _edit(path: Path) -> None:
    path.write_text(path.read_text("utf-8").replace("text: str", "text: int"), "utf-8")


def _append_without_newline(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"# more")


DRIFTS: dict[str, tuple[str, Callable[[Path], object], list[str]]] = {
    "an edited file": (
        "v1/models/other.py",
        _edit,
        ["--- committed/v1/models/other.py", "-    text: int", "+    text: str"],
    ),
    "a file without its last newline": ("v1/models/other.py", _append_without_newline, ["-# more"]),
    "a missing file": ("v1/agent.py", Path.unlink, ["--- /dev/null", "+++ regenerated/v1/agent.py"]),
    "a missing empty file": ("py.typed", Path.unlink, ["--- /dev/null", "+++ regenerated/py.typed"]),
    "an extra file": ("v1/more.py", lambda path: path.write_text("x = 1\n"), ["+++ /dev/null", "-x = 1"]),
    "an extra empty file": ("v1/more.py", Path.touch, ["--- committed/v1/more.py", "+++ /dev/null"]),
    "other line endings": ("v1/agent.py", lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")), []),
    "bytes that are not text": ("v1/agent.py", lambda path: path.write_bytes(b"\xff"), ["--- committed/v1/agent.py"]),
}


@pytest.mark.parametrize(("path", "change", "expected"), DRIFTS.values(), ids=DRIFTS)
def test_check_prints_a_diff_and_exits_with_1_until_the_files_are_regenerated(
    small: Path, capsys: pytest.CaptureFixture[str], path: str, change: Callable[[Path], object], expected: list[str]
) -> None:
    original = tree(small / "out")
    change(small / "out/acp_bindings" / path)
    before = tree(small / "out")
    assert check(small) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines
    assert set(expected) <= set(lines)
    assert "make regen" in captured.err
    assert tree(small / "out") == before
    assert regenerate(small / "schema", small / "out") == [path]
    assert tree(small / "out") == original


def test_the_package_of_a_removed_profile_is_removed(small: Path) -> None:
    (small / "schema/v1/schema.json").rename(small / "schema/v1/schema.unstable.json")
    (small / "schema/PINNED.json").unlink()
    regenerate(small / "schema", small / "out", pinned=False)
    assert {path.split("/")[1] for path in tree(small / "out") if path.count("/") == 2} == {"v1_unstable"}
