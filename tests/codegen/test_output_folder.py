"""If the output can't be written, there is one line on stderr. It says whether something was changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from codegen.files import read_files, replace_folders
from tests.support.codegen_copy import Copy, Ran
from tests.support.signals import stop_ignoring_sigint

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("codegen copy")]


@pytest.fixture
def copy(shared_copy: Copy) -> Iterator[Copy]:
    """A copy whose package is out of date, and whose permissions are restored afterwards."""
    (shared_copy.root / "generated/acp_bindings/v1/agent.py").write_text("old = 1\n", "utf-8")
    yield shared_copy
    for name in ("generated/acp_bindings/v1", "generated/acp_bindings", "generated", "."):
        (shared_copy.root / name).chmod(0o755)


def refused(copy: Copy, ran: Ran, before: dict[str, bytes]) -> str:
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert ran.err.startswith("codegen: ")
    assert "bug in codegen" not in ran.err
    assert copy.files() == before
    return ran.err


# The smallest limit stops the first file, the others a file of the formatter or of the new folder.
@pytest.mark.parametrize("largest", [10, 500, 3_000])
def test_a_full_disk_changes_nothing(copy: Copy, largest: int) -> None:
    before = copy.files()
    error = refused(copy, copy.run("regen", max_file_size=largest), before)
    assert ".py: File too large. Nothing was changed. " in error


def test_a_full_disk_changes_nothing_when_fetching(copy: Copy, tmp_path: Path) -> None:
    source = tmp_path / "schema.json"
    source.write_bytes((copy.root / "schema/v1/schema.json").read_bytes() + b"\n")
    before = copy.files()
    refused(copy, copy.run("fetch", str(source), max_file_size=500), before)


def test_an_unwritable_package_is_named(copy: Copy) -> None:
    before = copy.files()
    (copy.root / "generated/acp_bindings").chmod(0o555)
    error = refused(copy, copy.run("regen"), before)
    assert "generated/acp_bindings/.codegen-new: Permission denied. Nothing was changed. " in error


def test_only_the_package_itself_needs_to_be_writable(copy: Copy) -> None:
    (copy.root / "generated").chmod(0o555)
    copy.root.chmod(0o555)
    assert copy.run("regen").code == 0
    assert copy.run("check").code == 0


def test_a_failure_in_between_says_how_to_restore_the_files(copy: Copy) -> None:
    (copy.root / "generated/acp_bindings/v1").chmod(0o555)
    ran = copy.run("regen")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert "generated/acp_bindings/v1" in ran.err
    assert "Permission denied. Some files may have been replaced. Run the command again, or restore" in ran.err
    assert not (copy.root / "generated/acp_bindings/.codegen-new").exists()


def test_what_a_killed_run_left_is_completed_by_the_next_one(copy: Copy) -> None:
    package = copy.root / "generated/acp_bindings"
    assert copy.run("regen").code == 0
    complete = copy.files()
    (package / ".codegen-new/v1").mkdir(parents=True)
    (package / ".codegen-new/v1/half.py").write_text("half", "utf-8")
    assert copy.run("check").code == 1
    assert copy.run("regen").code == 0
    assert copy.files() == complete


def test_folders_of_files_that_are_no_longer_generated_are_removed(copy: Copy) -> None:
    (copy.root / "generated/acp_bindings/v9").mkdir()
    (copy.root / "generated/acp_bindings/v9/gone.py").touch()
    assert copy.run("regen").code == 0
    assert not (copy.root / "generated/acp_bindings/v9").exists()


def test_ctrl_c_gives_one_line(copy: Copy) -> None:
    methods = copy.root / "codegen/methods.toml"
    kept = methods.read_bytes()
    methods.unlink()
    os.mkfifo(methods)
    stop_ignoring_sigint()
    command = [sys.executable, "-m", "codegen", "regen"]
    with (
        subprocess.Popen(command, cwd=copy.root, stderr=subprocess.PIPE, text=True) as run,
        methods.open("wb"),  # waits until the command reads the file
    ):
        run.send_signal(signal.SIGINT)
        _, error = run.communicate()
    methods.unlink()
    methods.write_bytes(kept)
    assert (run.returncode, error) == (130, "codegen: Stopped. Nothing was changed.\n")


class Interrupted(Mapping[str, bytes]):
    """Two files. Whenever something iterates over them, Ctrl-C is pressed."""

    def __iter__(self) -> Iterator[str]:
        signal.raise_signal(signal.SIGINT)
        return iter(("a.py", "b.py"))

    def __getitem__(self, name: str) -> bytes:
        return name.encode()

    def __len__(self) -> int:
        return 2


def test_ctrl_c_does_not_interrupt_a_replacement(tmp_path: Path) -> None:
    stop_ignoring_sigint()
    handler = signal.getsignal(signal.SIGINT)
    replace_folders({tmp_path / name: Interrupted() for name in ("one", "two")})
    assert read_files(tmp_path).keys() == {"one/a.py", "one/b.py", "two/a.py", "two/b.py"}
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_full_disk_behind_stdout_gives_one_line(copy: Copy) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "codegen", "diff", "--base", "schema"]
        done = subprocess.run(command, cwd=copy.root, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "codegen: Stdout can't be written: No space left on device.\n")


def test_a_closed_stdout_gives_no_message(copy: Copy) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        command = [sys.executable, "-m", "codegen", "diff", "--base", "schema"]
        done = subprocess.run(command, cwd=copy.root, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
