"""docs/project/compatibility-promise.md says what CI and pyproject.toml do."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.docs.blocks import DOCS
from tests.support.paths import ROOT

PAGE = (DOCS / "project" / "compatibility-promise.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOWS = ROOT / ".github" / "workflows"


def jobs(workflow: str) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(WORKFLOWS / workflow)["jobs"]
    return loaded


def row(name: str) -> str:
    (found,) = re.findall(rf"^\| {name} \|.*$", PAGE, re.MULTILINE)
    return str(found)


def test_every_supported_python_is_tested() -> None:
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert re.findall(r"3\.\d+", row("Python")) == classifiers
    assert jobs("ci.yml")["test"]["strategy"]["matrix"]["python"] == classifiers
    assert jobs("release.yml")["check"]["strategy"]["matrix"]["python"] == classifiers
    assert PROJECT["project"]["requires-python"] == f">={classifiers[0]}"


def test_every_named_pydantic_is_tested() -> None:
    matrix = jobs("ci.yml")["pydantic"]["strategy"]["matrix"]
    assert re.findall(r"2\.\d+\.\d+", row("pydantic")) == matrix["pydantic"]
    assert PROJECT["project"]["dependencies"] == ["pydantic>=2.12,<3"]
    assert matrix["pydantic"][0] == "2.12.0"


def test_the_jobs_that_the_page_names_exist() -> None:
    named = [
        name.split(" (")[0].split(" ${{")[0]
        for file in ("ci.yml", "release.yml", "weekly.yml")
        for name in (job["name"] for job in jobs(file).values())
    ]
    for job in re.findall(r"job \*(.+?)\*", " ".join(PAGE.split())):
        assert any(name.startswith(job) for name in named), job


@pytest.mark.parametrize("module", sorted(set(re.findall(r"`(acp_(?:kit|bindings|runtime)(?:\.\w+)?)`", PAGE))))
def test_the_public_modules_exist(module: str) -> None:
    import_module(module)
