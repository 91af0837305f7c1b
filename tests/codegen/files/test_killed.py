"""However codegen is stopped, its output is the old one or the new one, and nothing else is left in its folder."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codegen.__main__ import ROOT
from tests.support import interrupt_everywhere
from tests.support.codegen.build import tree
from tests.support.codegen.refusal_base import BASE
from tests.support.codegen_copy import Copy, codegen_copy
from tests.support.scale import count

pytestmark = pytest.mark.slow

OLD, NEW = (
    {f"package/{name}": content.decode() for name, content in files.items()}
    for files in (interrupt_everywhere.OLD, interrupt_everywhere.NEW)
)
SIGNALS = [["SIGKILL"], ["SIGTERM"], ["SIGINT"], ["SIGINT", "SIGINT"], ["SIGTERM", "SIGTERM"], ["SIGTERM", "SIGKILL"]]
KILLS = count(4, 100)


def stopped(folder: Path, steps: object, signals: list[str]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.support.interrupt_everywhere", str(folder), str(steps), *signals]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("signals", SIGNALS, ids="-".join)
def test_a_signal_at_any_point_leaves_the_old_folder_or_the_new_one(tmp_path: Path, signals: list[str]) -> None:
    outcomes = stopped(tmp_path, 1, signals)
    assert len(outcomes) > 20
    assert {json.dumps(each["found"]) for each in outcomes} == {json.dumps(each) for each in (OLD, NEW)}
    assert {each["code"] for each in outcomes[:-1]} <= {-getattr(signal, name) for name in signals}
    assert all(each["after"] == ["generated"] for each in outcomes)


@pytest.mark.parametrize("signals", SIGNALS, ids="-".join)
def test_without_an_atomic_exchange_only_a_kill_can_leave_the_folder_missing(
    tmp_path: Path, signals: list[str]
) -> None:
    outcomes = stopped(tmp_path, 2, signals)
    found = {json.dumps(each["found"]) for each in outcomes}
    assert found - {"{}"} == {json.dumps(each) for each in (OLD, NEW)}
    assert ("{}" in found) <= ("SIGKILL" in signals)
    assert all(each["after"] == ["generated"] for each in outcomes)


@pytest.mark.stress
@pytest.mark.parametrize("signal_name", ["SIGKILL", "SIGTERM"])
def test_several_folders_and_files_are_replaced_all_or_none_unless_killed_in_between(
    tmp_path: Path, signal_name: str
) -> None:
    outcomes = stopped(tmp_path, "all", [signal_name])
    seen = {tuple(each["found"].get(name) for name in ("schema/a", "package/a", "notes")) for each in outcomes}
    partly = {("new", "old", "old"), ("new", "new", "old")} if signal_name == "SIGKILL" else set()
    whole = {("old", "old", "old"), ("new", "new", "new")}
    assert whole <= seen <= whole | partly
    assert {tuple(each["after"]) for each in outcomes} == {("generated",)}


def test_a_signal_that_can_be_caught_leaves_no_temporary_folder(tmp_path: Path) -> None:
    outcomes = stopped(tmp_path, 1, ["SIGTERM"])
    assert all(each["around"] == ["generated"] for each in outcomes)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    with codegen_copy(tmp_path_factory.mktemp("killed") / "copy", BASE) as found:
        yield found


@pytest.mark.stress
@pytest.mark.xdist_group("killed")
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_regeneration_stopped_at_a_random_moment_leaves_the_old_files_or_the_new_ones(copy: Copy, seed: int) -> None:
    package = copy.root / "generated"
    new = tree(package)
    agent = package / "acp_bindings/v1/agent.py"
    agent.write_text("old = 1\n", "utf-8")
    old = tree(package)
    chosen = random.Random(seed)
    with subprocess.Popen([sys.executable, "-m", "codegen", "regen"], cwd=copy.root, stdout=subprocess.DEVNULL) as run:
        try:
            run.wait(timeout=chosen.uniform(0, 2))
        except subprocess.TimeoutExpired:
            run.send_signal(chosen.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
    assert tree(package) in (old, new)
    assert copy.run("regen").code == 0
    assert tree(package) == new
    assert {path.name for path in copy.root.iterdir()} == {"codegen", "generated", "pyproject.toml", "schema"}
