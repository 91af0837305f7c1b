"""What breaks for users of the hand-written packages is found in their source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.diff.repository import commit
from tools.paths import ROOT
from tools.python_api import PUBLIC, python_api_changes

SOURCES = {
    "runtime/acp_runtime/__init__.py": "from acp_runtime.errors import Broken as Broken\n",
    "runtime/acp_runtime/errors.py": "class Broken(Exception):\n    code: int\n",
    "kit/acp_kit/__init__.py": "",
    "kit/acp_kit/content.py": "from acp_kit.inner import hidden\n\ndef text(block, strict=True): ...\n",
    "kit/acp_kit/inner.py": "def hidden(): ...\n",
    "kit/acp_kit/client/__init__.py": "from acp_kit.client.parts import Part\n__all__ = ['Part']\n",
    "kit/acp_kit/client/parts.py": "class Part:\n    def run(self): ...\n\ndef helper(): ...\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose commit has small packages."""
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    commit(tmp_path)
    return tmp_path


CHANGES = {
    "a parameter": (
        "kit/acp_kit/content.py",
        "def text(block): ...\n",
        ["`acp_kit.content`: `text(strict)`: *Parameter was removed*"],
    ),
    "a method of a class": (
        "kit/acp_kit/client/parts.py",
        "class Part: ...\n",
        ["`acp_kit.client`: `Part.run`: *Public object was removed*"],
    ),
    "a function that only has a default now": (
        "kit/acp_kit/content.py",
        "def text(block, strict=True, more=None): ...\n",
        [],
    ),
    "a private module": ("kit/acp_kit/inner.py", "", []),
}


@pytest.mark.parametrize(("name", "text", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_public_name_is_found(repository: Path, name: str, text: str, expected: list[str]) -> None:
    (repository / name).write_text(text, "utf-8")
    assert python_api_changes("HEAD", repository) == expected


def test_a_name_that_two_public_modules_have_is_reported_once(repository: Path) -> None:
    (repository / "runtime/acp_runtime/errors.py").write_text("class Broken(Exception): ...\n", "utf-8")
    assert python_api_changes("HEAD", repository) == ["`acp_runtime`: `Broken.code`: *Public object was removed*"]


def test_a_public_module_that_is_gone_is_found(repository: Path) -> None:
    (repository / "kit/acp_kit/content.py").unlink()
    assert python_api_changes("HEAD", repository) == ["`acp_kit.content`: *Public module was removed*"]


def test_the_public_modules_are_the_promised_ones() -> None:
    page = (ROOT / "docs/project/compatibility-promise.md").read_text("utf-8")
    promise = " ".join(page[page.index("**Private modules.**") :].split())
    listed, others = promise.partition("Everything else")[0].split("; also the modules ")
    modules = {each for each in re.findall(r"`([\w.]+)`", listed) if not each.startswith("acp_bindings")}
    names, package = re.findall(r"`(\w+)`", others)[:-1], re.findall(r"`(\w+)`", others)[-1]
    assert {*modules, *(f"{package}.{name}" for name in names)} == PUBLIC
