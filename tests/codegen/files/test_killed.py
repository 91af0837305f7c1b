"""However codegen is stopped, its output is the old one or the new one, and nothing else is left in its folder."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from typing import Any

import pytest

from codegen.__main__ import ROOT
from tests.support import interrupt_everywhere
from tests.support.codegen.build import tree
from tests.support.codegen_copy import Copy
from tests.support.scale import count

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("codegen copy")]

OLD, NEW = (
    {f"package/{name}": content.decode() for name, content in files.items()}
    for files in (interrupt_everywhere.OLD, interrupt_everywhere.NEW)
)
SIGNALS = [["SIGKILL"], ["SIGTERM"], ["SIGINT"], ["SIGINT", "SIGINT"], ["SIGTERM", "SIGTERM"], ["SIGTERM", "SIGKILL"]]
KILLS = count(4, 100)


SEVERAL = ["SIGKILL", "SIGTERM"]
CASES = [*(f"{calls}:{'-'.join(each)}" for calls in (1, 2) for each in SIGNALS), *(f"all:{each}" for each in SEVERAL)]
Outcomes = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The outcomes of each case, from one process."""
    folder = tmp_path_factory.mktemp("cases")
    command = [sys.executable, "-m", "tests.support.interrupt_everywhere", str(folder), *CASES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=count(120, 3600))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    return {case: [each for each in outcomes if each["case"] == case] for case in CASES}


@pytest.mark.parametrize("signals", SIGNALS, ids="-".join)
def test_a_signal_at_any_point_leaves_the_old_folder_or_the_new_one(stopped: Outcomes, signals: list[str]) -> None:
    outcomes = stopped[f"1:{'-'.join(signals)}"]
    assert len(outcomes) > 20
    assert {json.dumps(each["found"]) for each in outcomes} == {json.dumps(each) for each in (OLD, NEW)}
    assert {each["code"] for each in outcomes[:-1]} <= {-getattr(signal, name) for name in signals}
    assert all(each["after"] == ["generated"] for each in outcomes)


@pytest.mark.parametrize("signals", SIGNALS, ids="-".join)
def test_without_an_atomic_exchange_only_a_kill_can_leave_the_folder_missing(
    stopped: Outcomes, signals: list[str]
) -> None:
    outcomes = stopped[f"2:{'-'.join(signals)}"]
    found = {json.dumps(each["found"]) for each in outcomes}
    assert found - {"{}"} == {json.dumps(each) for each in (OLD, NEW)}
    assert ("{}" in found) <= ("SIGKILL" in signals)
    assert all(each["after"] == ["generated"] for each in outcomes)


@pytest.mark.stress
@pytest.mark.parametrize("signal_name", SEVERAL)
def test_several_folders_and_files_are_replaced_all_or_none_unless_killed_in_between(
    stopped: Outcomes, signal_name: str
) -> None:
    outcomes = stopped[f"all:{signal_name}"]
    seen = {tuple(each["found"].get(name) for name in ("schema/a", "package/a", "notes")) for each in outcomes}
    partly = {("new", "old", "old"), ("new", "new", "old")} if signal_name == "SIGKILL" else set()
    whole = {("old", "old", "old"), ("new", "new", "new")}
    assert whole <= seen <= whole | partly
    assert {tuple(each["after"]) for each in outcomes} == {("generated",)}


def test_a_signal_that_can_be_caught_leaves_no_temporary_folder(stopped: Outcomes) -> None:
    assert all(each["around"] == ["generated"] for each in stopped["1:SIGTERM"])


@pytest.fixture
def copy(shared_copy: Copy) -> Copy:
    assert shared_copy.run("regen").code == 0
    return shared_copy


@pytest.mark.stress
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
