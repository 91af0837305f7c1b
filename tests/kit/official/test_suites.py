"""The tests of each supported release of the official SDK, run on our connections."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from acp_kit.official import TESTED_RELEASES
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError, python_in, python_sdk_suite

pytestmark = pytest.mark.test_all

EXPECTED: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("expected_differences.toml").read_text("utf-8")
)


@pytest.mark.parametrize("release", TESTED_RELEASES)
def test_the_official_suite_fails_only_where_we_differ_on_purpose(release: str, tmp_path: Path) -> None:
    try:
        sources, environment = python_sdk_suite(f"agent-client-protocol=={release}")
    except UnavailableError as reason:
        skip_without(f"agent-client-protocol {release} can't be installed", reason)
    shutil.copytree(sources, tmp_path / "sdk")
    options = ["-q", "-rfE", "--tb=short", "--timeout=120", "-p", "no:cacheprovider"]
    options += [f"--deselect={left_out['test']}" for left_out in EXPECTED["not_run"]]
    done = subprocess.run(
        [python_in(environment), "-m", "pytest", "-p", "acp_kit.official.pytest_plugin", *options, "tests"],
        cwd=tmp_path / "sdk",
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    failed = set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE))
    differences = [difference for difference in EXPECTED["difference"] if release in difference["releases"]]
    assert failed == {difference["test"] for difference in differences}, done.stdout
    connections = re.search(r"acp_kit\.official: (\d+) connections", done.stdout)
    assert connections is not None, done.stdout
    assert int(connections[1]) >= 40
