"""A tap changes nothing for the editor and the agent: bytes, ends of streams, signals, exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from io import FileIO
from pathlib import Path
from select import select
from subprocess import PIPE

import pytest

from acp_kit.__main__ import main
from tests.support.kit.tapped import ECHO, SECONDS, python, run, start, tap_command

_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "acp.jsonl"


def test_bytes_and_the_exit_code_pass_unchanged(file: Path) -> None:
    data = b'{"a":\r\n \xff\xfe}\x00\n\nlast, without a newline'
    done = run(file, f"{ECHO}\nsys.stderr.buffer.write(b'bad \\xff'); sys.stderr.flush(); sys.exit(3)", data)
    assert (done.returncode, done.stdout, done.stderr) == (3, data, b"bad \xff")


def test_a_message_passes_before_the_next_one_comes(file: Path) -> None:
    with start(file, ECHO) as tap:
        assert tap.stdin
        assert tap.stdout
        for number in range(20):
            tap.stdin.write(b"%d\n" % number)
            tap.stdin.flush()
            assert tap.stdout.readline() == b"%d\n" % number


@_POSIX
def test_everything_passes_to_a_full_pipe_that_does_not_block(file: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    agent = python("os.write(1, b'x' * 150_000); os.write(2, b'written')")
    with (
        FileIO(reading) as stdout,
        subprocess.Popen(tap_command(file, *agent), stdin=PIPE, stdout=writing, stderr=PIPE) as tap,
    ):
        os.close(writing)
        assert tap.stderr
        assert tap.stderr.read(7) == b"written"  # so the pipe is full, and the rest is in the tap
        assert stdout.readall() == b"x" * 150_000


@_POSIX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_ends_the_agent_ends_the_tap(file: Path, number: signal.Signals) -> None:
    agent = f"import signal; signal.signal({int(number)}, signal.SIG_DFL)" if number != signal.SIGKILL else ""
    assert run(file, f"{agent}\nos.kill(os.getpid(), {int(number)})").returncode == -number
    assert f"was ended by {number.name}" in file.read_text()


def test_an_agent_starts_before_the_runtime_is_imported() -> None:
    names = "import acp_kit.__main__, acp_kit.tap.command, acp_kit.tap.passing, sys"
    program = f"{names}; print([name for name in ('acp_runtime', 'pydantic', 'pydantic_core') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=SECONDS)
    assert done.stdout == b"[]\n"


def test_an_agent_that_can_not_be_started_is_an_error(file: Path) -> None:
    done = subprocess.run(tap_command(file, "no-such-agent"), capture_output=True, check=False, timeout=SECONDS)
    assert done.returncode == 127
    assert b"acp-bindings tap: Can't start 'no-such-agent': " in done.stderr


def test_the_arguments_of_the_agent_are_its_own(file: Path) -> None:
    agent = [*python("print(sys.argv[1:])"), "--to", "x", "--", "-h"]
    done = subprocess.run(tap_command(file, *agent), capture_output=True, check=True, timeout=SECONDS)
    assert done.stdout == b"['--to', 'x', '--', '-h']\n"


def test_without_a_file_the_recording_has_a_name_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "acp_kit", "tap", "--", *python("print('{}')")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, timeout=SECONDS)
    (file,) = tmp_path.glob("acp-*.jsonl")
    assert done.stderr.decode() == f"acp-bindings tap: recording to {file}\n"
    assert '"message":{}' in file.read_text()


def test_a_tap_without_an_agent_says_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["tap", "--"])
    assert "[options] -- CMD ...\n" in capsys.readouterr().err


def test_a_recording_that_can_not_be_written_is_an_error_before_the_start(tmp_path: Path) -> None:
    done = run(tmp_path / "missing" / "acp.jsonl", "print('started')")
    assert (done.returncode, done.stdout) == (2, b"")
    problem = (
        f"acp-bindings tap: {str(tmp_path / 'missing' / 'acp.jsonl')!r}: No such file or directory. Create the folder"
    )
    assert problem.encode() in done.stderr


@_POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_agent(file: Path, number: signal.Signals) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tap leaves a signal alone that is ignored, as SIGHUP is under nohup")
    agent = f"""
    import signal
    signal.signal({int(number)}, lambda *_: os._exit(5))
    print("ready", flush=True)
    signal.pause()
    """
    command = tap_command(file, *python(agent))
    # A session of its own has no terminal, which would tell the agent of Ctrl-C itself.
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True) as tap:
        assert tap.stdout
        assert tap.stdout.readline() == b"ready\n"
        tap.send_signal(number)
        assert tap.wait(SECONDS) == 5


def test_the_end_of_the_agents_stdout_passes_while_it_runs(file: Path) -> None:
    with start(file, "os.write(1, b'last'); os.close(1); stdin.read(); sys.exit(6)") as tap:
        assert tap.stdin
        assert tap.stdout
        assert tap.stdout.read() == b"last"
        tap.stdin.close()
        assert tap.wait(SECONDS) == 6


@_POSIX
def test_an_agent_whose_editor_no_longer_reads_gets_the_error(file: Path) -> None:
    agent = """
    try:
        while True: os.write(1, b"line\\n")
    except BrokenPipeError:
        os._exit(7)
    """
    with start(file, agent) as tap:
        assert tap.stdout
        tap.stdout.close()
        assert tap.wait(SECONDS) == 7


@_POSIX
def test_an_editor_whose_agent_no_longer_reads_gets_the_error(file: Path) -> None:
    with start(file, "os.close(0); print('closed', flush=True); import signal; signal.pause()") as tap:
        assert tap.stdin
        assert tap.stdout
        assert tap.stdout.readline() == b"closed\n"
        with pytest.raises(BrokenPipeError):
            while True:
                os.write(tap.stdin.fileno(), b"line\n")
        tap.terminate()


@_POSIX
def test_an_agent_that_does_not_read_ends_with_a_killed_tap(file: Path) -> None:
    alive = file.with_name("alive")
    os.mkfifo(alive)
    with (
        start(file, f"pipe = open({str(alive)!r}, 'wb'); import signal; signal.pause()") as tap,
        alive.open("rb") as end,
    ):
        tap.kill()
        assert select([end], [], [], SECONDS)[0]
        assert end.read() == b""


@_POSIX
def test_a_process_that_the_agent_leaves_behind_does_not_keep_the_tap(file: Path) -> None:
    agent = """
    import subprocess
    left = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    print(left.pid, flush=True)
    os.write(1, b"x" * 1_000_000)
    os._exit(8)
    """
    with start(file, agent) as tap:
        assert tap.stdout
        left = int(tap.stdout.readline())
        try:
            assert len(tap.stdout.read()) == 1_000_000
            assert tap.wait(SECONDS) == 8
        finally:
            os.kill(left, signal.SIGKILL)


@pytest.mark.slow
def test_a_line_of_16_mib_passes(file: Path) -> None:
    line = b'{"text":"%b"}\n' % (b"x" * (16 << 20))
    assert run(file, ECHO, line * 2).stdout == line * 2
    assert file.read_bytes().count(line.rstrip()) == 4
