"""Runs the tests of real projects on acp_kit.official, without changing a line: `make crater [PROJECTS="NAME ..."]`.

Each release in projects.toml is fetched from the index into build/crater, with an environment of its own. Its tests run
twice: as they are, and with acp_kit.official's pytest plugin. No code of these projects is in this repository. A run of
all projects writes docs/project/official-projects.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.crater.results import HEADING, PAGE, PROJECTS, Result, problems, render_page, row
from tools.paths import ROOT
from tools.third_party import python_in

BUILD = ROOT / "build" / "crater"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qqq")
UV = shutil.which("uv")
LIMIT, TEST_LIMIT = 1800, 120  # seconds for the tests of one project, and for one test
PLUGIN = ("-p", "acp_kit.official.pytest_plugin")
_CONNECTIONS = re.compile(rb"acp_kit\.official: (\d+) connections, official: (\d+)")
_SITE = "import site; print(site.getsitepackages()[0])"
_RELEASE = "import importlib.metadata as m; print(m.version('agent-client-protocol'))"


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
    for path in project.get("folders", []):
        (folder / "code" / path).mkdir(parents=True)
    _run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"])
    python = python_in(folder / "venv")
    if UV:
        install = [UV, "pip", "install", "--quiet", "--no-sources", "--python", python]
    else:
        install = [*PIP, "--python", python, "install"]
    _run([*install, *project["install"], "pydantic>=2.12", "pytest-timeout"], folder / "code")
    paths = "".join(f"{ROOT / package}\n" for package in ("generated", "kit", "runtime"))
    Path(_ask(python, _SITE), "acp_bindings.pth").write_text(paths, "utf-8")
    (folder / "ready").touch()
    return folder


def _run(command: Sequence[object], folder: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=folder, check=True)


def _ask(python: Path, code: str) -> str:
    return subprocess.check_output([python, "-c", code], text=True).strip()


def run_tests(name: str, folder: Path, run: str, options: Sequence[str] = ()) -> tuple[dict[str, bool], bytes]:
    """Run a project's tests in a copy of its code. Return for each whether it passed, and what pytest printed."""
    code, report = folder / run, folder / f"{run}.xml"
    shutil.rmtree(code, ignore_errors=True)
    shutil.copytree(folder / "code", code)
    command = [str(python_in(folder / "venv")), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-c", "pyproject.toml"]  # otherwise pytest looks for settings further up, and finds ours
    command += [
        f"--timeout={TEST_LIMIT}",
        f"--junitxml={report}",
        "--continue-on-collection-errors",
        *options,
        *PROJECTS[name]["tests"],
    ]
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


def check(name: str) -> Result:
    """Run a project's tests on both connections."""
    folder = prepare(name)
    begin = time.monotonic()
    before, _ = run_tests(name, folder, "official")
    after, printed = run_tests(name, folder, "ours", PLUGIN)
    counts = _CONNECTIONS.search(printed)
    ours, official = (int(counts[1]), int(counts[2])) if counts else (0, 0)
    release = _ask(python_in(folder / "venv"), _RELEASE)
    return Result(name, release, before, after, ours, official, time.monotonic() - begin)


def main(names: Sequence[str]) -> int:
    """Check projects. Return 1 if one has problems."""
    fitting = [
        name for name in names if f"{sys.version_info[0]}.{sys.version_info[1]}" >= PROJECTS[name].get("python", "")
    ]
    for name in sorted({*names} - {*fitting}):
        print(f"{name} needs Python {PROJECTS[name]['python']}: left out.")
    print(HEADING, flush=True)
    results: list[Result] = []
    has_problems = False
    for name in fitting:
        result = check(name)
        results.append(result)
        print(row(result), flush=True)
        for problem in problems(result, PROJECTS[name].get("lost", {})):
            print(f"  {problem}", flush=True)
            has_problems = True
    if {*fitting} == {*PROJECTS}:
        PAGE.write_text(render_page(results), "utf-8")
    return int(has_problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(PROJECTS)))
