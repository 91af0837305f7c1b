"""The programs and commands of every page run as pasted, and print what the page says."""

from __future__ import annotations

import doctest
import logging
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.docs.blocks import CHECKED, SHOWN, blocks, name, pages
from tests.support.docs.files import Step, files_before, steps

PROGRAMS = [page for page in pages() if any(step.files or not step.block.not_run for step in steps(page))]
# What newcomers read first. Programs of other pages run only in `make test-all`.
FIRST = {"README.md", "docs/learn/quickstart-agent.md", "docs/learn/quickstart-client.md"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["program"])
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    yield tmp_path
    # Another page may have a file with the same name.
    for loaded, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(f"{tmp_path}{os.sep}"):
            del sys.modules[loaded]


def with_layer(page: Path) -> Any:
    return pytest.param(page, id=name(page), marks=() if name(page) in FIRST else pytest.mark.test_all)


@pytest.mark.slow
@pytest.mark.parametrize("page", [with_layer(page) for page in PROGRAMS])
def test_the_programs_of_a_page_print_the_output_that_it_shows(
    page: Path, folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is printed, such as a warning of Python or of a logger."""
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setattr(logging.root, "handlers", [])  # those of pytest hide what a program logs
    if "McpServers(" in page.read_text("utf-8"):
        with capfd.disabled():
            import_module("mcp.client.stdio")  # it keeps the stderr of its import, and that of capfd is closed
    modules = set(sys.modules)
    for step in steps(page):
        for file, text in step.files.items():
            (folder / file).write_text(text, "utf-8")
        for loaded in set(sys.modules) - modules:
            if f"{loaded}.py" in step.files:
                del sys.modules[loaded]
        if step.block.not_run:
            continue
        if step.block.language == "sh":
            _check(page, step, _run(["bash", "-eu", "-c", step.block.text]))
        elif step.output is not None and step.current:
            capfd.readouterr()
            with redirect_stderr(sys.stdout):  # as in a terminal
                runpy.run_path(step.current, run_name="__main__")
            printed = capfd.readouterr()
            assert printed.err == "", "a process that the program has started"
            _check(page, step, printed.out)
    if tests := sorted(path.name for path in folder.glob("test_*.py")):
        # Without plugins, whose import takes longer than the tests.
        _run(["env", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", "pytest", "-q", "-p", "no:cacheprovider", *tests])


def test_something_runs_every_file_of_a_page() -> None:
    """A file prints something, is a test, or is named by a command or another file that does."""
    assert {name(page): files for page in PROGRAMS if (files := _not_run(page))} == {}


def _not_run(page: Path) -> list[str]:
    all_steps = steps(page)
    files = all_steps[-1].files
    run = {step.current for step in all_steps if step.output is not None and step.block.language == "python"}
    run |= {file for file in files if file.startswith("test_")}
    run |= {file for file in files for step in all_steps if step.block.language == "sh" and file in step.block.text}
    for _ in files:
        run |= {file for file in files for other in run if other and _names(files[other], file)}
    elsewhere = {file for file, text in files_before(page).items() if files[file] == text}
    return sorted(set(files) - run - elsewhere)


def test_every_block_is_checked_or_says_why_not() -> None:
    unknown = [
        f"{name(page)}, line {block.line}: {block.language}"
        for page in pages()
        for block in blocks(page)
        if block.language not in CHECKED | SHOWN
    ]
    assert unknown == [], f"Use one of {sorted(CHECKED | SHOWN)}"


def _names(text: str, file: str) -> bool:
    module = Path(file).stem
    return file in text or f"from {module} import" in text or f"import {module}\n" in text


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def _check(page: Path, step: Step, printed: str) -> None:
    """Compare the output with the page, where `...` stands for anything."""
    if step.output is None:
        return
    where = f"{name(page)}, line {step.block.line}"
    same = doctest.OutputChecker().check_output(step.output, printed, doctest.ELLIPSIS)
    assert same, f"{where} prints:\n{printed}"
