"""Runs the tests of real projects on acp_kit.official, without changing a line: `make crater [PROJECTS="NAME ..."]`.

Each release in projects.toml is fetched from the index into build/crater, with an environment of its own. Its tests run
twice: as they are, and with acp_kit.official's pytest plugin. No code of these projects is in this repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tools.paths import ROOT
from tools.third_party import python_in

BUILD = ROOT / "build" / "crater"
PROJECTS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("projects.toml").read_text("utf-8"))
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qqq")
UV = shutil.which("uv")
LIMIT = 1800  # seconds for the tests of one project
PLUGIN = ("-p", "acp_kit.official.pytest_plugin")
_CONNECTIONS = re.compile(rb"acp_kit\.official: (\d+) connections, official: (\d+)")


def prepare(name: str) -> Path:
    """Return the folder of a project with its code (`code`) and its environment (`venv`), which are made once."""
    project, folder = PROJECTS[name], BUILD / f"{name}-{PROJECTS[name]['version']}"
    if (folder / "ready").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{name}=={project['version']} --hash=sha256:{project['sha256']}\n", "utf-8")
    _run([*PIP, "download", "--no-deps", f"--no-binary={name}", "--require-hashes", "-r", requirement, "-d", folder])
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder / "sdist", filter="data")
    next((folder / "sdist").iterdir()).rename(folder / "code")
    _run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"])
    python = python_in(folder / "venv")
    if UV:
        install = [UV, "pip", "install", "--quiet", "--no-sources", "--python", python]
    else:
        install = [*PIP, "--python", python, "install"]
    _run([*install, *project["install"], "pydantic>=2.12"], folder / "code")
    site = subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True)
    paths = "".join(f"{ROOT / package}\n" for package in ("generated", "kit", "runtime"))
    Path(site.strip(), "acp_bindings.pth").write_text(paths, "utf-8")
    (folder / "ready").touch()
    return folder


def _run(command: Sequence[object], folder: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=folder, check=True)


def run_tests(name: str, folder: Path, run: str, options: Sequence[str] = ()) -> tuple[dict[str, bool], bytes]:
    """Run a project's tests in a copy of its code. Return for each whether it passed, and what pytest printed."""
    code, report = folder / run, folder / f"{run}.xml"
    shutil.rmtree(code, ignore_errors=True)
    shutil.copytree(folder / "code", code)
    command = [str(python_in(folder / "venv")), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-c", "pyproject.toml"]  # otherwise pytest looks for settings further up, and finds ours
    command += [f"--junitxml={report}", "--continue-on-collection-errors", *options, *PROJECTS[name]["tests"]]
    with (folder / f"{run}.log").open("w+b") as log:
        path = os.pathsep.join((str(python_in(folder / "venv").parent), os.environ["PATH"]))
        environment = {**os.environ, "PATH": path}
        subprocess.run(command, cwd=code, env=environment, stdout=log, stderr=log, timeout=LIMIT, check=False)
        log.seek(0)
        printed = log.read()
    passed: dict[str, bool] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            is_passed = case.find("failure") is None and case.find("error") is None
            passed[f"{case.get('classname')}::{case.get('name')}"] = is_passed
    return passed, printed


def check(name: str) -> bool:
    """Print the row of a project, and what is wrong: tests that pass only without the plugin, or no connection of ours.

    Return whether nothing is.
    """
    folder = prepare(name)
    before, _ = run_tests(name, folder, "official")
    after, printed = run_tests(name, folder, "ours", PLUGIN)
    counts = _CONNECTIONS.search(printed)
    ours, official = (int(counts[1]), int(counts[2])) if counts else (0, 0)
    lost = sorted(test for test, is_passed in before.items() if is_passed and not after.get(test))
    row = (
        f"{name} {PROJECTS[name]['version']}",
        len(before),
        sum(before.values()),
        sum(after.values()),
        ours,
        official,
    )
    print(f"| {' | '.join(map(str, row))} |", flush=True)
    if not ours:
        print("  Its tests open no connection of ours, so they show nothing: remove the project.", flush=True)
        return False
    differs = PROJECTS[name].get("differs")
    if lost and differs:
        print(f"  {len(lost)} tests pass only on the official connection: {differs}.", flush=True)
        return True
    for test in lost:
        print(f"  passes only on the official connection: {test}", flush=True)
    return not lost


def main(names: Sequence[str]) -> int:
    """Check projects. Return 1 if a test passes only on the official connection, or a project opens none of ours."""
    fitting = [
        name for name in names if f"{sys.version_info[0]}.{sys.version_info[1]}" >= PROJECTS[name].get("python", "")
    ]
    for name in sorted({*names} - {*fitting}):
        print(f"{name} needs Python {PROJECTS[name]['python']}: left out.")
    print("| project | tests | pass | pass on ours | our connections | official ones |\n|---|---|---|---|---|---|")
    kept = [check(name) for name in fitting]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(PROJECTS)))
