"""If ruff can't format generated code, the error is one sentence that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.emit.formatting import format_files
from codegen.errors import FileError


def test_code_that_is_not_python_is_an_error_with_its_file_and_line() -> None:
    with pytest.raises(FileError) as error:
        format_files({"agent.py": "x = 1\ny = = 2\n"})
    assert str(error.value).startswith("agent.py:2:")
    assert str(error.value).endswith(". Correct generated_style.toml, or the template that the code comes from.")


def test_a_style_that_is_not_toml_is_an_error_about_the_style(tmp_path: Path) -> None:
    (tmp_path / "style.toml").write_text("[", "utf-8")
    with pytest.raises(FileError, match=r"style\.toml: Not TOML: "):
        format_files({"agent.py": "x = 1\n"}, tmp_path / "style.toml")


def test_that_ruff_was_killed_is_not_taken_for_a_mistake_in_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = tmp_path / "python"
    killed.write_text("#!/bin/sh\nkill -KILL $$\n")
    killed.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(killed))
    with pytest.raises(FileError) as error:
        format_files({"agent.py": "x = 1\n"})
    assert str(error.value) == "ruff was killed by SIGKILL. Run the command again."
