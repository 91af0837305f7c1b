"""Correct user code can be imported, and mypy with pydantic's plugin accepts it.

`make lint` checks `user_code/` and `mistakes/` with everything else, by mypy and pyright in strict mode. They report a
line in `mistakes/` unless it has `# type: ignore`, and also if it has that and is right. For a line that only pyright
reports, the comment is `# pyright: ignore`.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.support.programs import run_command
from tools.paths import ROOT

USER_CODE = sorted((Path(__file__).parent / "user_code").glob("*.py"))
# The packages are somebody else's code for the user, and the types of the extras' packages have no models.
SETTINGS = """
[mypy]
strict = True
python_version = 3.11
plugins = pydantic.mypy
[mypy-acp_bindings.*,acp_kit.*,acp_runtime.*]
ignore_errors = True
[mypy-mcp.*,sqlalchemy.*]
follow_imports = skip
"""


@pytest.mark.test_all
@pytest.mark.slow
def test_typical_user_code_is_clean_under_mypy_with_the_pydantic_plugin(tmp_path: Path) -> None:
    config = tmp_path / "mypy.ini"
    config.write_text(SETTINGS, "utf-8")
    options = ["--config-file", str(config), "--cache-dir", str(ROOT / ".mypy_cache" / "plugin")]
    run_command(sys.executable, "-m", "mypy", *options, *map(str, USER_CODE), cwd=tmp_path)


@pytest.mark.parametrize("path", USER_CODE, ids=lambda path: path.stem)
def test_typical_user_code_can_be_imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location(f"user_code_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look it up
    spec.loader.exec_module(module)
