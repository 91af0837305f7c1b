"""All public types of the wheel are known in a bare environment. `make lint` runs this file, `make test` doesn't.

It takes half a minute, and only what `make lint` checks can break it: types and what is exported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environments import DEADLINE, build_wheel, install

# Their types are those of the extras' packages, which a bare environment lacks.
OF_EXTRAS = ("acp_kit.history.tables.", "acp_kit.official.", "acp_kit.remote.")
# How many types each exports at least.
PACKAGES = {"acp_bindings": 5_000, "acp_kit": 400, "acp_runtime": 100}


@pytest.fixture(scope="module")
def bare(pip_without_a_registry: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python executable of an environment with only the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("bare")
    return install(build_wheel(folder), folder)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_type_of_the_wheel_is_known_in_a_bare_environment(package: str, bare: Path) -> None:
    report = _completeness(package, bare)
    assert Path(report["packageRootDirectory"]).is_relative_to(bare.parents[1])
    exported = {
        symbol["name"]: symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"]
        for symbol in report["symbols"]
        if symbol["isExported"] and not symbol["name"].startswith(OF_EXTRAS)
    }
    assert [name for name, known in exported.items() if not known] == []
    assert len(exported) > PACKAGES[package]


def _completeness(package: str, python: Path) -> dict[str, object]:
    """Return pyright's report on a package in an environment, which pyright finds by `python` on the path."""
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "pyright", "--outputjson", "--ignoreexternal", "--verifytypes", package]
    run = subprocess.run(
        command,
        cwd=python.parents[2],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    report: dict[str, object] = json.loads(run.stdout)["typeCompleteness"]
    return report
