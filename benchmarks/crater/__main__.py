"""Moves real projects with acp_migrate and runs their tests before and after: `make crater`.

Each release in projects.toml is fetched from the index into build/crater, with an environment of its own. No code of
these projects is in this repository.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from acp_migrate.context import MARK

from tools.paths import ROOT

BUILD = ROOT / "build" / "crater"
PROJECTS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("projects.toml").read_text("utf-8"))
_PAGE = ROOT / "docs" / "moving.md"
_START, _END = "<!-- crater: start -->", "<!-- crater: end -->"
_PACKAGES = ("generated", "kit", "runtime")
_FRAME = re.compile(r'(?:File "|^)([^":\n]+\.py)(?:", line |:)(\d+)', re.MULTILINE)
# Errors that a mark explains wherever they are raised, with what the mark says.
_CAUSES = {"_AsyncGeneratorContextManager": "Open this with `async with`"}
_LIMIT = 1800  # seconds for the tests of one project
_PROGRAM = "crater_program.py"  # what runs the project's agent or client


def prepare(name: str) -> Path:
    """Return the folder of a project with its code (`before`) and its environment, which are made once."""
    project, folder = PROJECTS[name], BUILD / name
    if (folder / "ready").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{name}=={project['version']} --hash=sha256:{project['sha256']}\n")
    _run([*_PIP, "download", "--no-deps", f"--no-binary={name}", "--require-hashes", "-r", requirement, "-d", folder])
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder / "sdist", filter="data")
    next((folder / "sdist").iterdir()).rename(folder / "before")
    _run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"])
    python = folder / "venv" / "bin" / "python"
    _run([*_PIP, "--python", python, "install", *project["install"], "pydantic>=2.12"], folder / "before")
    site = subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True)
    Path(site.strip(), "acp_bindings.pth").write_text("".join(f"{ROOT / each}\n" for each in _PACKAGES))
    (folder / "before" / project["paths"][0] / _PROGRAM).write_text(project.get("agent") or project.get("client", ""))
    (folder / "ready").touch()
    return folder


_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qqq")


def _run(command: Sequence[object], folder: Path = ROOT) -> None:
    subprocess.run([str(each) for each in command], cwd=folder, check=True)


def move(name: str, folder: Path) -> dict[str, Any]:
    """Move a copy of a project (`after`) with the tool alone, and return what the tool did."""
    after = folder / "after"
    shutil.rmtree(after, ignore_errors=True)
    shutil.copytree(folder / "before", after)
    command = [sys.executable, "-m", "acp_migrate", *PROJECTS[name]["sources"], "--write"]
    start = os.times()
    done = subprocess.run(command, cwd=after, capture_output=True, text=True, check=False)
    used = os.times()
    if done.returncode == 2:
        raise SystemExit(f"{name}: {done.stderr}")
    changed = re.search(r"Changed (\d+) places? in (\d+) files?", done.stderr)
    left = re.findall(r": (\d+) places? left to you", done.stderr)
    seconds = used.children_user - start.children_user + used.children_system - start.children_system
    return {
        "places": int(changed[1]) if changed else 0,
        "files": int(changed[2]) if changed else 0,
        "marks": sum(map(int, left)),
        "seconds": round(seconds, 1),
    }


def run_tests(name: str, tree: Path) -> dict[str, str]:
    """Run a project's tests, and return for each the traceback of its failure; "" for one that passes."""
    report = tree.parent / f"{tree.name}.xml"
    report.unlink(missing_ok=True)
    options = [
        "-q",
        "-c",
        "pyproject.toml",
        "-p",
        "no:cacheprovider",
        "--tb=native",
        "--color=no",
        f"--junitxml={report}",
    ]
    options += ["--continue-on-collection-errors", "-o", "junit_logging=all"]
    command = [tree.parent / "venv" / "bin" / "python", "-m", "pytest", *options, *PROJECTS[name]["tests"]]
    with (tree.parent / f"{tree.name}.log").open("wb") as log:
        subprocess.run(
            [*map(str, command)],
            cwd=tree,
            env=_environment(name, tree),
            stdout=log,
            stderr=log,
            timeout=_LIMIT,
            check=False,
        )
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            problems = [case.find("failure"), case.find("error")]
            text = "".join("".join(each.itertext()) or "failed" for each in problems if each is not None)
            if text:
                text = f"{case.findtext('system-out', '')}\n{case.findtext('system-err', '')}\n{text}"
            found[f"{case.get('classname')}::{case.get('name')}"] = text
    return found


def _environment(name: str, tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(tree / each) for each in PROJECTS[name]["paths"])}


def explain(tree: Path, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the tests that only the tool broke: those that a mark explains, with its place, and the others.

    The others come with the last line of the error. A mark explains a failure if it stands at the last line of the
    project's in the traceback; if it names something that the error names, and stands further up in a function of the
    traceback or at a definition; or if it says that a connection has to be opened where the error is that it isn't.
    """
    marks = _Marks(tree)
    explained: dict[str, str] = {}
    others: dict[str, str] = {}
    for test, old in before.items():
        if old:
            continue
        text = after.get(test)
        if text is None:  # its file could not be imported
            module = test.partition("::")[0]
            text = next((each for name, each in after.items() if each and name.endswith(f"::{module}")), "not run")
        if text and (place := marks.explain(text)):
            explained[test] = place
        elif text:
            others[test] = text.strip().splitlines()[-1]
    return explained, others


class _Marks:
    """The marks in a project."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._at: dict[Path, list[tuple[int, int, _Mark]]] = {}  # with the first and last line of what is marked
        self._within: dict[Path, list[tuple[int, int, list[_Mark]]]] = {}  # those in a function, with its lines
        self._defined: dict[str, _Mark] = {}  # those at definitions, by the name and by the words in them
        self._causes: dict[str, _Mark] = {}
        for path in tree.rglob("*.py"):
            text = path.read_text("utf-8", "replace")
            if MARK in text:
                self._add(path, text)

    def _add(self, path: Path, text: str) -> None:
        lines = text.splitlines()
        marks = {
            number: _Mark(f"{path.relative_to(self._tree)}:{number}", number, {*re.findall(r"\w+", line)})
            for number, line in enumerate(lines, 1)
            if line.lstrip().startswith(MARK)
        }
        self._causes |= {
            error: marks[number] for number in marks for error, mark in _CAUSES.items() if mark in lines[number - 1]
        }
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.stmt, ast.ExceptHandler)):
                continue
            first = top = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
            while top > 1 and lines[top - 2].lstrip().startswith("#"):
                top -= 1
            body, last = getattr(node, "body", []), node.end_lineno or first
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inside = [marks[number] for number in range(top, last) if number in marks]
                self._within.setdefault(path, []).append((first, last, inside))
            for mark in [marks[number] for number in range(top, first) if number in marks]:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    self._defined |= dict.fromkeys({node.name, *mark.words}, mark)
                self._at.setdefault(path, []).append((first, body[0].lineno - 1 if body else last, mark))

    def explain(self, text: str) -> str:
        """Return the place of the mark that explains a failure; "" if none does."""
        words = {each for each in re.findall(r"\w+", text.strip().splitlines()[-1]) if "_" in each or each[0].isupper()}
        frames = [(self._tree / file, int(line)) for file, line in _FRAME.findall(text)]
        own = [(path, line) for path, line in frames if path.is_relative_to(self._tree)]
        found = [
            mark for path, line in own[-1:] for first, last, mark in self._at.get(path, ()) if first <= line <= last
        ]
        for path, line in own:
            for first, last, inside in self._within.get(path, ()):
                if first <= line <= last:
                    found += [mark for mark in inside if mark.line < line and words & mark.words]
        found += [self._defined[word] for word in words if word in self._defined]
        found += [mark for error, mark in self._causes.items() if error in text]
        return found[0].place if found else ""


@dataclass(frozen=True)
class _Mark:
    place: str
    line: int
    words: set[str]


def talk(name: str, tree: Path) -> str:
    """Run a project's agent with our client, or its client with our agent, and return the traceback if that fails."""
    project = PROJECTS[name]
    program = [str(tree.parent / "venv" / "bin" / "python"), str(tree / project["paths"][0] / _PROGRAM)]
    if "agent" in project:
        command = [sys.executable, "-m", "benchmarks.crater.client", *program]
    elif "client" in project:
        command = [*program, sys.executable, str(ROOT / "examples" / "echo_agent.py")]
    else:
        return ""
    environment = {**_environment(name, tree), "PYTHONSAFEPATH": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return "" if "done" in done.stdout else f"{done.stderr}\n{done.stdout}".strip() or "no answer"


def type_errors(name: str, tree: Path) -> int:
    """Return how many errors pyright finds in those files of a project that use the SDK before or after."""
    uses = re.compile(r"^\s*(?:from|import)\s+acp\b", re.MULTILINE)
    before = tree.parent / "before"
    files = [each for each in before.rglob("*.py") if uses.search(each.read_text("utf-8", "replace"))]
    config = tree.parent / f"{tree.name}-pyright.json"
    settings = {
        "include": sorted(str(tree / each.relative_to(before)) for each in files),
        "extraPaths": [str(tree / each) for each in PROJECTS[name]["paths"]] + [str(ROOT / each) for each in _PACKAGES],
        "typeCheckingMode": "standard",
    }
    config.write_text(json.dumps(settings))
    python = tree.parent / "venv" / "bin" / "python"
    command = [sys.executable, "-m", "pyright", "--project", config, "--pythonpath", python, "--outputjson"]
    done = subprocess.run([*map(str, command)], cwd=tree, capture_output=True, text=True, check=False)
    return int(json.loads(done.stdout)["summary"]["errorCount"])


def measure(name: str) -> dict[str, Any]:
    """Return what the crater's table says of a project, and what broke."""
    folder = prepare(name)
    python = folder / "venv" / "bin" / "python"
    query = "from importlib.metadata import version; print(version('agent-client-protocol'))"
    result: dict[str, Any] = {
        "version": PROJECTS[name]["version"],
        "sdk": subprocess.check_output([python, "-c", query], text=True).strip(),
        "date": datetime.now(UTC).date().isoformat(),
        **move(name, folder),
    }
    before, after = (run_tests(name, folder / each) for each in ("before", "after"))
    for key, tests in (("before", before), ("after", after)):
        result[f"tests_{key}"] = [sum(not each for each in tests.values()), len(tests)]
    for key in ("before", "after"):
        test, text = f"other side: {_PROGRAM}", talk(name, folder / key)
        (before if key == "before" else after)[test] = text
        result[f"talks_{key}"] = not text
    result["broken"] = sum(not old and bool(after.get(test, "not run")) for test, old in before.items())
    result["explained"], result["unexplained"] = explain(folder / "after", before, after)
    result["errors_before"], result["errors_after"] = (type_errors(name, folder / each) for each in ("before", "after"))
    return result


def main(names: Sequence[str]) -> int:
    """Measure projects, all by default.

    Returns:
        1 if more broke without a mark than projects.toml says.
    """
    broken = False
    for name in names or PROJECTS:
        needed = PROJECTS[name].get("python", "3.11")
        if sys.version_info < tuple(map(int, needed.split("."))):
            sys.stderr.write(f"{name} is left out: it needs Python {needed}\n")
            continue
        result = measure(name)
        sys.stdout.write(f"{name}: {json.dumps(result, indent=2)}\n")
        write_row(name, result)
        broken |= len(result["unexplained"]) > PROJECTS[name].get("silent", 0)
    return int(broken)


def write_row(name: str, result: Mapping[str, Any]) -> None:
    """Write the row of a project in the table of docs/moving.md."""
    tests = [" of ".join(map(str, result[f"tests_{when}"])) for when in ("before", "after")]
    talks = [
        "-" if PROJECTS[name].keys().isdisjoint(("agent", "client")) else "yes" if result[when] else "no"
        for when in ("talks_before", "talks_after")
    ]
    cells = [
        f"{name} {result['version']}",
        *(result[key] for key in ("sdk", "date", "places", "marks")),
        len(result["unexplained"]),
        *tests,
        *talks,
        *(result[key] for key in ("errors_before", "errors_after", "seconds")),
    ]
    page = _PAGE.read_text("utf-8")
    start, end = page.index(_START) + len(_START), page.index(_END)
    head, line, *rows = page[start:end].strip().splitlines()
    by_name = {each.split()[1]: each for each in rows} | {name: f"| {' | '.join(map(str, cells))} |"}
    table = "\n".join([head, line, *(by_name[each] for each in PROJECTS if each in by_name)])
    _PAGE.write_text(f"{page[:start]}\n{table}\n{page[end:]}", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
