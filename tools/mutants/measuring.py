"""What each test does with unchanged code: how long it takes, and which lines it executes, also in programs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coverage
import pytest

from tools.mutants.folders import BUILD, find_files
from tools.mutants.forks import fork, reports
from tools.paths import ROOT

PYTEST_ARGUMENTS = ["-q", "-p", "no:cacheprovider", "-n0", "--timeout=0", "--capture=no", "--tb=line"]
_COVERAGE_OF_PROGRAMS = """[run]
context = ${MUTANTS_TEST}
data_file = {folder}/data
parallel = true
sigterm = true
disable_warnings = trace-changed
include = {files}
"""


# Tests by file and line.
ByLine = dict[str, dict[int, list[str]]]


@dataclass(frozen=True)
class Measured:
    """What was measured.

    Attributes:
        seconds: how long each test takes, by its id.
        failed: the tests that fail without a change.
        imported: the lines that are executed at import, by file.
        tests: the tests that execute a line.
        programs: the tests that start a program that executes the line.
        start_programs: the tests that start programs.
    """

    seconds: Mapping[str, float]
    failed: Set[str]
    imported: Mapping[str, Set[int]]
    tests: ByLine
    programs: ByLine
    start_programs: Set[str]


def measure_tests(paths: Sequence[str], files: Sequence[str]) -> Measured:
    """Run the tests once, or read what an earlier run with the same code and tests wrote."""
    kept = BUILD / f"measured-{_compute_digest(paths, files)}.json"
    if not kept.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        print(f"Running {' '.join(paths)} unchanged, to see which lines each test executes", flush=True)
        with fork(lambda _: _measure(paths, files, kept)) as forked:
            list(reports(forked))
        if not kept.exists():
            raise SystemExit(f"The tests could not be measured: {' '.join(paths)}")
    data = json.loads(kept.read_text())
    return Measured(
        seconds=data["seconds"],
        failed=set(data["failed"]),
        imported={file: set(lines) for file, lines in data["imported"].items()},
        tests=_convert_lines(data["tests"]),
        programs=_convert_lines(data["programs"]),
        start_programs=set(data["start_programs"]),
    )


def _convert_lines(data: dict[str, dict[str, list[str]]]) -> ByLine:
    return {file: {int(line): tests for line, tests in lines.items()} for file, lines in data.items()}


def _compute_digest(paths: Sequence[str], files: Sequence[str]) -> str:
    digest = hashlib.sha256(json.dumps([list(paths), list(files)]).encode())
    for path in ("runtime", "kit", "codegen", "generated", *paths, "tests/support"):
        for file in find_files(path):
            digest.update((ROOT / file).read_bytes())
    return digest.hexdigest()[:16]


def _measure(paths: Sequence[str], files: Sequence[str], kept: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mutants-lines-"))
    try:
        included = [str(ROOT / file) for file in files]
        settings = folder / "coverage.ini"
        text = _COVERAGE_OF_PROGRAMS.replace("{folder}", str(folder)).replace("{files}", "\n    ".join(["", *included]))
        settings.write_text(text)
        os.environ["COVERAGE_PROCESS_START"] = str(settings)
        os.environ["MUTANTS_TEST"] = ""
        lines = coverage.Coverage(data_file=None, config_file=str(settings))
        recorder = _Recorder(lines)
        lines.start()
        code = pytest.main([*paths, *PYTEST_ARGUMENTS], plugins=[recorder])
        lines.stop()
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        of_programs = coverage.Coverage(data_file=str(folder / "data"), config_file=False)
        of_programs.combine([str(folder)])
        kept.write_text(json.dumps(_collect(recorder, files, lines.get_data(), of_programs.get_data())))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _collect(recorder: _Recorder, files: Sequence[str], here: Any, programs: Any) -> dict[str, Any]:
    imported: dict[str, list[int]] = {}
    tests: dict[str, dict[int, list[str]]] = {}
    of_programs: dict[str, dict[int, list[str]]] = {}
    for file in files:
        executed = here.contexts_by_lineno(str(ROOT / file))
        imported[file] = sorted(line for line, contexts in executed.items() if "" in contexts)
        tests[file] = {line: sorted(set(contexts) - {""}) for line, contexts in executed.items()}
        executed = programs.contexts_by_lineno(str(ROOT / file))
        of_programs[file] = {line: sorted(set(contexts) - {""}) for line, contexts in executed.items()}
    return {
        "seconds": recorder.seconds,
        "failed": sorted(recorder.failed),
        "imported": imported,
        "tests": tests,
        "programs": of_programs,
        "start_programs": sorted(recorder.start_programs),
    }


class _Recorder:
    """A plugin that records what each test does."""

    def __init__(self, lines: coverage.Coverage) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.start_programs: set[str] = set()
        self._lines = lines
        self._test = ""
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _: Any) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"):
            self.start_programs.add(self._test)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests that `make test` leaves out: some run the whole generator for minutes."""
        items[:] = [item for item in items if item.get_closest_marker("test_all") is None]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._test = os.environ["MUTANTS_TEST"] = item.nodeid
        if "fork_server" in getattr(item, "fixturenames", ()):
            self.start_programs.add(self._test)
        if sys.gettrace() is None:  # the test before it has used another one
            self._lines.stop()
            self._lines.start()
        self._lines.switch_context(self._test)
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = round(time.perf_counter() - began, 4)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
