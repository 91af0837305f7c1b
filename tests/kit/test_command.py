"""The command `acp-bindings`."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from acp_kit import __main__ as command
from tests.support.programs import output_of

COMMANDS = ["agent", "replay", "check-client", "bridge", "serve", "connect"]


def test_help_lists_the_commands_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command.main(["--help"])
    printed = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in printed
        assert f"\n  acp-bindings {name} " in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_help_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command.main([name, "--help"])
    assert f"usage: acp-bindings {name} " in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_without_a_command_the_choice_is_listed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(arguments)
    assert "COMMAND" in capsys.readouterr().err


def test_arguments_and_exit_codes_are_those_of_the_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "recording.jsonl"
    recording.touch()
    assert command.main(["redact", str(recording), "--to", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


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
    done = subprocess.run([sys.executable, "-m", "acp_kit", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: acp-bindings COMMAND")
