"""Formats generated code with ruff: removes unused imports, sorts the others. `generated_style.toml` has the rules."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

from codegen.errors import FileError
from codegen.files.folders import write_files

_STYLE = Path(__file__).with_name("generated_style.toml")
_ROOT = Path(__file__).parents[2]
_FIX, _FORMAT = ["check", "--fix", "--output-format", "concise"], ["format"]


def formatted(files: dict[str, str], style: Path = _STYLE) -> dict[str, str]:
    """Return the same files, formatted in a style, which is a file with settings of ruff.

    Raises:
        FileError: a file is not Python, or ruff can't run.
    """
    with tempfile.TemporaryDirectory(prefix="acp-codegen-") as folder:
        root = Path(folder)
        write_files(root, {name: text.encode("utf-8") for name, text in files.items()})
        for arguments in (_FIX, _FORMAT):
            _ruff(arguments, folder, style)
        return {name: (root / name).read_bytes().decode("utf-8") for name in files}


def _ruff(arguments: list[str], folder: str, style: Path) -> None:
    if not style.is_file():
        raise FileError("", f"{_shown(style)}: The file is missing. Restore it with git.")
    command = [_ruff_program(), *arguments, "--config", str(style), "--no-cache", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        raise FileError("", f"ruff was killed by {signal.Signals(-done.returncode).name}. Run the command again.")
    if done.returncode:
        raise FileError("", _complaint(done.stderr or done.stdout, folder, style))


@cache
def _ruff_program() -> str:
    try:
        ruff = import_module("ruff")  # it has no types
    except ImportError:
        raise FileError("", "ruff is not installed. Run `make regen`, which installs it.") from None
    return str(ruff.find_ruff_bin())


def _complaint(output: str, folder: str, style: Path) -> str:
    """Return the error message of ruff on one line."""
    lines = [line.strip(" .").removeprefix("Cause: ") for line in output.replace(f"{folder}/", "").splitlines()]
    lines = [line for line in lines if line]
    if str(style) in output:
        where = [line for line in lines[:-1] if " at line " in line]
        return f"{_shown(style)}: {', '.join((*where, lines[-1]))}. Correct it, or restore it with git."
    return f"ruff refuses the generated code: {'; '.join(lines[:3])}. Correct the template that it comes from."


def _shown(style: Path) -> str:
    return style.relative_to(_ROOT).as_posix()
