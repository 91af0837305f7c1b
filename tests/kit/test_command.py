"""The command `acp-bindings`: its help, its options, and how its errors are reported."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from acp_kit import __main__ as command
from acp_kit.common.command_line import CommandParser
from acp_runtime import __version__
from tests.support.programs import output_of, run_command

PARSER, PARSERS = command.parsers()
COMMANDS = [*PARSERS]


def test_help_lists_the_commands_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command.main(["--help"])
    printed = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n    {name} " in printed or f"\n    {name}\n" in printed
    for name in {*COMMANDS} - {"redact"}:
        assert f"\n  acp-bindings {name} " in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_help_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command.main([name, "--help"])
    assert f"usage: acp-bindings {name} " in capsys.readouterr().out


def test_without_arguments_help_is_printed_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 2
    assert capsys.readouterr() == ("", PARSER.format_help())


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--version"]) == 0
    assert capsys.readouterr().out == f"acp-bindings {__version__}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors of POSIX")
@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_a_closed_stream_counts_as_empty(descriptor: int, tmp_path: Path) -> None:
    (tmp_path / "acp.jsonl").write_text('{"direction": "a2c", "line": "x"}\n')
    program = f"import os, sys; os.close({descriptor}); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    command = ["-m", "acp_kit", "show", str(tmp_path / "acp.jsonl")]
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"not a message: x" in done.stdout) == (descriptor != 1)


def test_an_interrupt_while_a_command_is_imported_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "import_module", interrupt)
    assert command.main(["show", "x"]) == 130


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [("sh", "show"), ("show --e", "--errors"), ("check-client --format j", "json junit"), ("ask hi --al", "--allow")],
)
def test_bash_completes_commands_options_and_values(
    words: str, completed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab")
    assert command.main(["--completion", "bash"]) == 0
    (tmp_path / "completion").write_text(capsys.readouterr().out)
    program = rf"""
    source {tmp_path}/completion
    COMP_WORDS=(acp-bindings {words})
    COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
    $(complete -p acp-bindings | sed 's/.*-F \([^ ]*\).*/\1/') acp-bindings "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
    echo "${{COMPREPLY[*]}}"
    """
    assert run_command("bash", "-eu", "-c", program).strip() == completed


def return_none(name: str) -> None:
    """Find no package."""


def test_completion_without_its_extra_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", return_none)
    assert command.main(["--completion", "zsh"]) == 2
    assert "pip install 'acp-bindings[completion]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nothing"], "there is no command 'nothing'. COMMAND is one of ask, tap,"),
        (["shwo"], "there is no command 'shwo'. Did you mean 'show'?"),
        (["--versoin"], "there is no option '--versoin'. Did you mean '--version'?"),
        (["show", "--sesion=1", "file"], "there is no option '--sesion'. Did you mean '--session'?"),
        (["show", "--err", "file"], "there is no option '--err'. Did you mean '--errors'?"),
        (["ask", "hello", "--model", "--", "agent"], "there is no option '--model'. The words of the command"),
        (["redact", "a", "b"], "unexpected argument 'b'."),
        (["tap", "agent", "--acp"], "there is no option '--acp'. The words of the command come after --."),
        (["ask", "What", "is", "this?", "--", "agent"], "unexpected argument 'is'. The words of the command"),
        (["ask", "--json", "--", "python", "agent.py"], "the following arguments are required: QUESTION"),
        (["ask", "hello"], "the following arguments are required: CMD"),
        (["tap"], "the following arguments are required: CMD"),
        (["bridge", "--"], "the following arguments are required: CMD"),
    ],
)
def test_a_wrong_argument_is_named_with_the_one_that_was_probably_meant(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("file", "a", "b"):
        Path(file).touch()
    with pytest.raises(SystemExit, match="2"):
        command.main(arguments)
    *_, last = capsys.readouterr().err.splitlines()
    assert f"error: {problem}" in last


@pytest.mark.parametrize(
    "before", [["tap", "--to", "file"], ["tap"], ["ask", "hello", "--json"], ["replay-client", "file"], ["bridge"]]
)
def test_the_words_after_the_dashes_are_the_command(before: list[str]) -> None:
    options = PARSER.parse_args([*before, "--", "agent", "--to", "--", "x"])
    assert options.command == ["agent", "--to", "--", "x"]
    assert getattr(options, "to", None) == (Path("file") if "--to" in before else None)


@pytest.mark.parametrize("parser", [PARSER, *PARSERS.values()], ids=["acp-bindings", *COMMANDS])
def test_names_of_values_are_in_capital_letters(parser: CommandParser) -> None:
    for argument in parser.arguments:
        if argument.nargs != 0 and argument.metavar is not None:
            assert re.fullmatch(r"[A-Z]+(:[A-Z]+|=[A-Z]+)?", str(argument.metavar))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["show", "missing"], "'missing': No such file or directory. Check the path, which begins in '{folder}'."),
        (["redact", "{folder}/missing"], "'{folder}/missing': No such file or directory. Check the path."),
        (["redact", "file", "--to", "{folder}"], "'{folder}': Is a directory. Write the path of a file."),
        (["agent", "missing"], "'{folder}/missing': No such file or directory. Check the path."),
        (["replay", "missing"], "'missing': No such file or directory. Check the path, which begins in '{folder}'."),
        (["show", "file", "--html", "no/page"], "'no/page': No such file or directory. Create the folder 'no', or "),
        (["tap", "--to", "no/file", "--", "x"], "'no/file': No such file or directory. Create the folder 'no', or "),
        (
            ["tap", "--to", "new", "--", "./missing"],
            "Can't start './missing': No such file or directory. Check the path.",
        ),
        (
            ["check-client", "--", "acp-no-such", "{{agent}}"],
            "Can't start 'acp-no-such': No such file or directory. Ins",
        ),
        (["tap", "--to", "new", "--", "./file"], "Can't start './file': Permission denied. Check that the file may be"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the reasons are those of POSIX")
def test_an_error_of_the_system_says_what_failed_where_and_what_to_do(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    filled = [argument.format(folder=tmp_path) for argument in arguments]
    assert command.main(filled) == (127 if arguments[0] == "tap" and "new" in arguments else 2)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"acp-bindings {arguments[0]}: {problem.format(folder=tmp_path)}")
    assert printed.err.count("\n") == 1
    assert "Errno" not in printed.err


def test_help_imports_neither_the_runtime_nor_asyncio() -> None:
    program = """
import sys
from acp_kit.__main__ import main
try:
    main(["--help"])
except SystemExit:
    print([name for name in ("acp_runtime", "asyncio", "pydantic") if name in sys.modules])
"""
    assert output_of(program).splitlines()[-1] == "[]"


def test_it_is_a_script_and_a_module() -> None:
    (script,) = entry_points(group="console_scripts", name="acp-bindings")
    assert script.load() is command.main
    shown = run_command(sys.executable, "-m", "acp_kit", "--help")
    assert shown.startswith("usage: acp-bindings [options] COMMAND ...")
