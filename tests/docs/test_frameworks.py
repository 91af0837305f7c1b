"""The agents of the guides to frameworks work, and pyright accepts them.

The frameworks are heavy: installing them takes a minute. They are in an environment of their own, in which
`frameworks/agents.py` runs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import certifi
import pytest

from tests.docs.frameworks.framework_pages import programs
from tests.support.programs import run_command
from tools.paths import ROOT
from tools.third_party import python_in

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.timeout(900)]


def test_the_agents_of_the_guides_work_with_a_client(environment: Path, tmp_path: Path) -> None:
    # Each HTTP client reads all trusted certificates, which takes as long as the rest of a test.
    first, end, _ = Path(certifi.where()).read_text("utf-8").partition("-----END CERTIFICATE-----\n")
    (tmp_path / "certificates.pem").write_text(first + end, "utf-8")
    # Of plugins, only the one that pyproject.toml has an option for.
    plugins = ["--noconftest", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
    pytest_there = [str(python_in(environment)), "-m", "pytest", "-q", *plugins, "-o", "filterwarnings=default"]
    settings = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "SSL_CERT_FILE": str(tmp_path / "certificates.pem")}
    run_command(
        *pytest_there, "tests/docs/frameworks/agents.py", "tests/docs/frameworks/messages.py", cwd=ROOT, **settings
    )


def test_pyright_strict_accepts_the_agents(environment: Path, tmp_path: Path) -> None:
    for name, text in programs().items():
        (tmp_path / name).write_text(text, "utf-8")
    # The types of some frameworks have gaps.
    gaps = ("MissingTypeStubs", "UnknownMemberType", "UnknownParameterType", "UnknownVariableType")
    settings = {"typeCheckingMode": "strict"} | {f"report{gap}": False for gap in gaps}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    run_command(sys.executable, "-m", "pyright", "--pythonpath", str(python_in(environment)), ".", cwd=tmp_path)


def test_the_backend_of_the_guide_works(environment: Path) -> None:
    plugins = ["--noconftest", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
    pytest_there = [str(python_in(environment)), "-m", "pytest", "-q", *plugins, "-o", "filterwarnings=default"]
    run_command(*pytest_there, "tests/docs/frameworks/backend.py", cwd=ROOT, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
