"""docs/project/compatibility-promise.md says what CI and pyproject.toml do."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module

import pytest

from tests.support.docs.blocks import DOCS
from tests.support.workflows import JOBS
from tools.paths import ROOT

PAGE = (DOCS / "project" / "compatibility-promise.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PLATFORMS = JOBS["ci.yml: platforms"]["steps"]


def row(name: str) -> str:
    (found,) = re.findall(rf"^\| {name} \|.*$", PAGE, re.MULTILINE)
    return str(found)


def test_every_supported_python_is_tested() -> None:
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert re.findall(r"3\.\d+", row("Python")) == classifiers
    assert JOBS["ci.yml: test"]["strategy"]["matrix"]["python"] == classifiers
    assert JOBS["release.yml: check"]["strategy"]["matrix"]["python"] == classifiers
    assert PROJECT["project"]["requires-python"] == f">={classifiers[0]}"


def test_the_row_of_macos_and_windows_says_what_ci_runs_there() -> None:
    (python,) = (step["with"]["python-version"] for step in PLATFORMS if "setup-python" in step.get("uses", ""))
    (tests,) = (step["run"] for step in PLATFORMS if "pytest" in step.get("run", ""))
    cells = row("macOS, Windows")
    assert re.findall(r"3\.\d+", cells) == [python]
    assert re.findall(r"tests/\w+", cells) == re.findall(r"tests/\w+", tests)


def test_every_named_pydantic_is_tested() -> None:
    matrix = JOBS["ci.yml: pydantic"]["strategy"]["matrix"]
    assert re.findall(r"2\.\d+\.\d+", row("pydantic")) == matrix["pydantic"]
    assert PROJECT["project"]["dependencies"] == ["pydantic>=2.12,<3"]
    assert matrix["pydantic"][0] == "2.12.0"


def test_the_jobs_that_the_page_names_exist() -> None:
    named = [job["name"].split(" (")[0].split(" ${{")[0] for job in JOBS.values()]
    for job in re.findall(r"job \*(.+?)\*", " ".join(PAGE.split())):
        assert any(name.startswith(job) for name in named), job


@pytest.mark.parametrize("module", sorted(set(re.findall(r"`(acp_(?:kit|bindings|runtime)(?:\.\w+)?)`", PAGE))))
def test_the_public_modules_exist(module: str) -> None:
    import_module(module)
