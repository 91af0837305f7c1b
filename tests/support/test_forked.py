"""A forked program is like one that Python has started."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.support.forked import Forked, ran

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="forks"),
    pytest.mark.usefixtures("fork_server"),
]

ITS_OWN = """
import os, sys
print(__name__, sys.argv, os.getpid(), os.environ["GIVEN"], sys.stdin.read())
sys.stderr.write("to stderr")
raise SystemExit(3)
"""


def test_a_program_has_its_arguments_environment_streams_and_exit_code() -> None:
    program = Forked("-c", ITS_OWN, "one", env={"GIVEN": "two"})
    out, err = program.communicate(b"three")
    assert out.decode() == f"__main__ ['-c', 'one'] {program.pid} two three\n"
    assert (err, program.returncode) == (b"to stderr", 3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_program_ends_by_a_signal(number: signal.Signals) -> None:
    program = Forked("-c", "import os; os.write(1, b'x'); os.read(0, 1)")
    assert program.stdout.read(1) == b"x"
    program.send_signal(number)
    program.communicate()
    assert program.returncode == -number


def test_a_module_is_run_by_its_name() -> None:
    code, out, _ = ran("-m", "this")
    assert (code, out.splitlines()[0]) == (0, b"The Zen of Python, by Tim Peters")


def test_an_error_is_written_to_stderr() -> None:
    code, _, err = ran("-c", "1 / 0")
    assert (code, err.splitlines()[-1]) == (1, b"ZeroDivisionError: division by zero")


def test_a_program_has_no_other_descriptors() -> None:
    code = "import os; print(sorted(map(int, os.listdir('/dev/fd'))))"
    # The last one reads the folder.
    assert ran("-c", code)[1] == b"[0, 1, 2, 3]\n"


def test_the_exit_code_is_found_even_if_the_program_ended_at_once() -> None:
    """Its pid and its exit code may arrive together."""
    for _ in range(5):
        program = Forked("-c", "raise SystemExit(3)")
        assert program.stdout.read() == program.stderr.read() == b""
        assert program.wait(20) == 3
        program.communicate()
