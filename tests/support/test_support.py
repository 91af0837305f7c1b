"""The helpers of the tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fill_once import fill_once
from tests.support.forked import Forked
from tests.support.signals import stop_ignoring_sigint
from tests.support.skipping import skip_or_fail

FILL = """
import sys
from pathlib import Path
from tests.support.fill_once import fill_once

def fill(folder):
    with open(sys.argv[2], "a") as log:
        log.write("filled\\n")
    (folder / "content").write_text("whole")

print((fill_once(Path(sys.argv[1]), fill) / "content").read_text())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.usefixtures("fork_server")
def test_concurrent_processes_fill_a_folder_only_once(tmp_path: Path) -> None:
    processes = [Forked("-c", FILL, str(tmp_path / "folder"), str(tmp_path / "log")) for _ in range(4)]
    assert [each.communicate(timeout=100)[0] for each in processes] == [b"whole\n"] * 4
    assert (tmp_path / "log").read_text("utf-8") == "filled\n"


def test_a_partially_filled_folder_is_emptied_and_filled_again(tmp_path: Path) -> None:
    def interrupted(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_once(tmp_path / "folder", interrupted)
    found = fill_once(tmp_path / "folder", lambda folder: (folder / "whole").touch())
    assert {path.name for path in found.iterdir()} == {"whole", ".complete"}


def test_a_missing_requirement_skips_the_test_or_fails_it_if_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACP_TOOLS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="There is no jq"):
        skip_or_fail("tools", "There is no jq.")
    monkeypatch.setenv("ACP_TOOLS", "required")
    with pytest.raises(pytest.fail.Exception, match=r"There is no jq\. .* ACP_TOOLS=required"):
        skip_or_fail("tools", "There is no jq.")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_processes_of_tests_can_be_interrupted_if_pytest_runs_in_the_background_of_a_shell() -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        stop_ignoring_sigint()
        program = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
        done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    finally:
        signal.signal(signal.SIGINT, previous)
    assert done.stdout == "True\n"


GROUPS = """
import os, pytest

@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("group", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in "ab"])
def test_where(group, number):
    print(group, os.environ["PYTEST_XDIST_WORKER"])
"""


def test_tests_of_a_group_run_in_one_process(tmp_path: Path) -> None:
    """If this fails, pytest and pytest-xdist are incompatible, and fixtures run several times."""
    (tmp_path / "test_groups.py").write_text(GROUPS, "utf-8")
    options = ["-rP", "-p", "xdist", "--numprocesses", "2", "--dist", "loadgroup", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", "test_groups.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=100
    )
    where = re.findall(r"^([ab]) (gw\d)$", done.stdout, re.MULTILINE)
    assert len(where) == 12
    assert len(set(where)) == 2
