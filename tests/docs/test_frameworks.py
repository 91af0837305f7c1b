"""The guides to frameworks: their agents work, and type checkers accept them.

The frameworks are in an environment of their own, because they are heavy. `frameworks/agents.py` runs there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import certifi
import pytest

from tests.docs.test_types import RULES
from tests.support.docs.framework_pages import programs
from tests.support.paths import ROOT
from tests.support.third_party import UnavailableError, frameworks, python_in, skip_without

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # installs the frameworks, and mypy reads all of them once


@pytest.fixture(scope="module")
def environment() -> Path:
    try:
        return frameworks()
    except UnavailableError as reason:
        skip_without("The frameworks can't be installed", reason)


def test_the_agents_of_the_guides_work_with_a_client(environment: Path, tmp_path: Path) -> None:
    # Each HTTP client reads all trusted certificates, which takes as long as the rest of a test.
    first, end, _ = Path(certifi.where()).read_text("utf-8").partition("-----END CERTIFICATE-----\n")
    (tmp_path / "certificates.pem").write_text(first + end, "utf-8")
    # Of plugins, only the one that pyproject.toml has an option for.
    plugins = ["--noconftest", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
    pytest_there = [str(python_in(environment)), "-m", "pytest", "-q", *plugins, "-o", "filterwarnings=default"]
    settings = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "SSL_CERT_FILE": str(tmp_path / "certificates.pem")}
    run([*pytest_there, "tests/docs/frameworks/agents.py"], ROOT, settings)


def test_mypy_strict_accepts_the_agents(environment: Path, tmp_path: Path) -> None:
    for name, text in programs().items():
        (tmp_path / name).write_text(text, "utf-8")
    # The cache belongs to the frameworks: without it, mypy needs a minute.
    cache = ["--cache-dir", str(environment / "mypy"), "--python-executable", str(python_in(environment))]
    run([sys.executable, "-m", "mypy", "--strict", *cache, "."], tmp_path, {})


def test_ruff_accepts_the_agents(tmp_path: Path) -> None:
    for name, text in programs().items():
        (tmp_path / name).write_text(text, "utf-8")
    run([sys.executable, "-m", "ruff", "check", "--isolated", "--target-version=py311", *RULES, "."], tmp_path, {})


def run(command: list[str], folder: Path, settings: Mapping[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
