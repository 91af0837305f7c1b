"""Formats generated code with ruff, removes unused imports and sorts the others. See `generated_style.toml`."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from codegen.errors import FileError
from codegen.files import write_files
from codegen.toml import parse_toml

_STYLE = Path(__file__).with_name("generated_style.toml")
_FIX = ["check", "--fix", "--output-format", "concise"]
_FORMAT = ["format"]


def format_files(files: dict[str, str], style: Path = _STYLE) -> dict[str, str]:
    """Return the files, formatted. `style` is a file with settings of ruff.

    Raises:
        FileError: a file is not Python, or ruff can't run.
    """
    parse_toml(style.read_bytes(), style.name)  # for a shorter error than ruff's
    with tempfile.TemporaryDirectory(prefix="acp-codegen-") as folder:
        root = Path(folder)
        write_files(root, {name: text.encode("utf-8") for name, text in files.items()})
        for arguments in (_FIX, _FORMAT):
            _run_ruff(arguments, folder, style)
        return {name: (root / name).read_bytes().decode("utf-8") for name in files}


def _run_ruff(arguments: list[str], folder: str, style: Path) -> None:
    command = [sys.executable, "-m", "ruff", *arguments, "--config", str(style), "--no-cache", folder]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode < 0:
        raise FileError("", f"ruff was killed by {signal.Signals(-process.returncode).name}. Run the command again.")
    if process.returncode:
        lines = (process.stderr or process.stdout).replace(f"{folder}/", "").splitlines()
        reasons = "; ".join([line.strip(" .") for line in lines if line.strip()][:3])
        raise FileError("", f"{reasons}. Correct {style.name}, or the template that the code comes from.")
