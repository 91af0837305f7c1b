"""Runs tests with a change, in forks of a process that has collected them."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict
from importlib.machinery import SourceFileLoader
from itertools import count, pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest

from tools.mutants.changes import Change, is_cached, lines_of_function, lines_of_statement
from tools.mutants.folders import BUILD, is_near
from tools.mutants.forks import Report, fork, reports, share, use_own_temporary_folder
from tools.mutants.live import ChangedCode, ChangesImportError, Functions, compile_change, find_functions, needs_import
from tools.mutants.measuring import PYTEST_ARGUMENTS, ByLine, Measured
from tools.mutants.results import Result
from tools.paths import ROOT

# A test hangs after so many seconds, and so many times the seconds that it takes.
PATIENCE = 2
PATIENCE_FACTOR = 8
# A line that more tests than this execute isn't only executed when something is used for the first time.
_MANY = 20
# The kinds of transport that a test runs over, beside memory.
_LINKS = ("pipes", "streams", "transport")


class Failure(NamedTuple):
    """The first test that noticed a change, and how, if not by failing."""

    test: str
    how: str = ""


class Collected:
    """A plugin that runs a function in place of the tests."""

    def __init__(self, run: Callable[[list[pytest.Item]], None]) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the function."""
        session.config.pluginmanager.unregister(name="terminalreporter")
        self._run(session.items)
        return True


class Failures:
    """A plugin that reports the first failure and ends the process."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the process if a test has failed."""
        self._end_if_failed(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """End the process if a file can't be collected."""
        self._end_if_failed(report)

    def _end_if_failed(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            self._report(["failed", report.nodeid])
            os._exit(0)


class Ordered:
    """A plugin that runs some tests, in their order, and reports the beginning of each."""

    def __init__(self, tests: Sequence[str], report: Report) -> None:
        self._places = {test: place for place, test in enumerate(tests)}
        self._report = report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places), key=lambda item: self._places[item.nodeid]
        )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Report the beginning of a test."""
        self._report(["began", nodeid])


def find_failure(
    items: Sequence[pytest.Item],
    changed: ChangedCode,
    seconds: Mapping[str, float],
    *,
    patience: float = PATIENCE,
) -> Failure | None:
    """Run tests with changed functions, in a fork. Return the test that failed, hung or ended the process."""

    def work(report: Report) -> None:
        for function, code in changed:
            function.__code__ = code
        items[0].config.pluginmanager.register(Failures(report))
        for item, following in zip(items, [*items[1:], None], strict=True):
            report(["began", item.nodeid])
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        report(["end", ""])

    return _watch(work, seconds, patience)


def find_failure_at_import(change: Change | None, tests: Sequence[str], seconds: Mapping[str, float]) -> Failure | None:
    """Collect and run tests in a fork of this process, which has imported none of our packages.

    With a change, if there is one.
    """

    def work(report: Report) -> None:
        if change is not None:
            _import_changed(change)
        report(["began", "import"])
        # Sorted, because pytest forgets the fixtures of a folder that it leaves.
        files = sorted({test.split("::")[0] for test in tests})
        plugins = [Ordered(tests, report), Failures(report)]
        if pytest.main([*files, *PYTEST_ARGUMENTS], plugins=plugins) == pytest.ExitCode.OK:
            report(["end", ""])

    return _watch(work, {"import": 5, **seconds}, PATIENCE)


def _import_changed(change: Change) -> None:
    """Let this process import the changed file in place of the one on disk."""
    path, get_code = str(ROOT / change.file), SourceFileLoader.get_code

    def code_of(loader: SourceFileLoader, name: str) -> CodeType | None:
        if loader.get_filename(name) == path:
            return compile(change.apply(), path, "exec", dont_inherit=True)
        return get_code(loader, name)

    pytest.MonkeyPatch().setattr(SourceFileLoader, "get_code", code_of)


def _watch(work: Callable[[Report], None], seconds: Mapping[str, float], patience: float) -> Failure | None:
    """Return the test that failed, hung or ended the process."""

    def find_patience(report: Any) -> float:
        return patience + PATIENCE_FACTOR * seconds.get(report[1] if report else "", 0.0)

    def work_silently(report: Report) -> None:
        _silence()
        work(report)

    last = ["began", ""]
    with use_own_temporary_folder(), fork(work_silently) as forked:
        try:
            for last in reports(forked, find_patience):
                if last[0] in ("failed", "end"):
                    break
        except TimeoutError:
            return Failure(last[1], "hangs")
    if last[0] == "end":
        return None
    return Failure(last[1], "" if last[0] == "failed" else "ends the process")


def _choose_one_link(tests: Set[str]) -> Iterator[str]:
    """Yield the tests. Of a test that runs over several kinds of transport, only one is yielded."""
    for test in tests:
        name, bracket, parameters = test.partition("[")
        over_memory = [f"{name}{bracket}{parameters.replace(link, 'memory')}" for link in _LINKS if link in parameters]
        if not any(other in tests for other in over_memory):
            yield test


def _silence() -> None:
    """Discard what this process and programs that it starts print."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)


_number = count(1)


@contextmanager
def write_to_disk(change: Change) -> Generator[None]:
    """Write the change to disk. One process at a time does that."""
    file = ROOT / change.file
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        old, stat = file.read_bytes(), file.stat()
        try:
            file.write_text(change.apply())
            # No other version of the file has this time, so Python never uses another version's bytecode.
            time_of_change = 1_000_000_000 + os.getpid() * 1000 + next(_number) % 1000
            os.utime(file, (time_of_change, time_of_change))
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            yield
        finally:
            file.write_bytes(old)
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            del os.environ["PYTHONDONTWRITEBYTECODE"]


class Runner:
    """Runs the tests of some changes. Those that notice most changes per second run first.

    A change is tried in up to four ways, until a test notices it:

    1. In a process that has used the code, where a test costs least.
    2. In a process that has only imported the code, because the first process has cached values from first use.
    3. In a process that imports the changed file.
    4. On disk, for programs that tests start.

    Only the first way runs the tests of all folders.
    """

    def __init__(self, changes: Sequence[Change], measured: Measured, jobs: int, deadline: float) -> None:
        self._changes = changes
        self._measured = measured
        self._jobs = jobs
        self._deadline = deadline
        self._kills: Counter[str] = Counter()
        self._items: dict[str, pytest.Item] = {}
        self._functions: Functions = {}
        self._used_before: set[tuple[str, str]] = set()
        self._passes_alone: dict[str, bool] = {}
        self.results: dict[int, Result] = {}

    def run(self) -> Iterator[tuple[int, Result]]:
        """Try all changes. Yield the number and the result of each attempt."""
        yield from self._run_collected(self._try_in_this_process)
        yield from self._try_left(self._run_at_import)
        yield from self._run_collected(self._try_in_programs)

    def _run_collected(self, attempts: Callable[[Report], None]) -> Iterator[tuple[int, Result]]:
        """Make attempts in a fork that has collected the tests."""
        with fork(lambda report: self._collect(attempts, report)) as forked:
            for index, result in reports(forked):
                self._keep(index, Result(**result))
                yield index, self.results[index]

    def _collect(self, attempts: Callable[[Report], None], report: Report) -> None:
        def run(items: list[pytest.Item]) -> None:
            passing = self._measured.seconds.keys() - self._measured.failed
            self._items = {item.nodeid: item for item in items if item.nodeid in passing}
            self._functions = find_functions({change.file for change in self._changes})
            attempts(report)

        paths = dict.fromkeys(test.split("::")[0] for test in self._measured.seconds)
        pytest.main([*paths, *PYTEST_ARGUMENTS], plugins=[Collected(run)])

    def _try_in_this_process(self, report: Report) -> None:
        with fork(self._run_warm) as forked:
            for index, result in reports(forked):
                if index == -1:
                    self._used_before |= {(file, function) for file, function in result}
                    continue
                self._keep(index, Result(**result))
                report([index, result])
        for index, result in self._try_left(self._run_after_first_use):
            report([index, asdict(result)])

    def _try_in_programs(self, report: Report) -> None:
        for index, result in self._try_left(self._run_programs):
            report([index, asdict(result)])

    def _run_warm(self, report: Report) -> None:
        """Use the code once, then try the changes."""
        self._use_code()
        report([-1, sorted(self._used_before)])
        for index, result in self._try_left(self._run_covering):
            report([index, asdict(result)])

    def _use_code(self) -> None:
        """Run a test of each file, and note which functions they call."""
        files = {str(ROOT / change.file): change.file for change in self._changes}

        def profile(frame: FrameType, event: str, _: object) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename in files:
                self._used_before.add((files[code.co_filename], code.co_qualname.replace(".<locals>", "")))

        sys.setprofile(profile)
        for item, following in pairwise([*self._find_cheapest_of_each_file(), None]):
            if item is not None:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        sys.setprofile(None)

    def _try_left(self, attempt: Callable[[int], Failure | None]) -> Iterator[tuple[int, Result]]:
        """Try the changes that nothing has noticed yet."""
        left = [index for index in range(len(self._changes)) if self._is_left(index)]

        def work(number: int) -> dict[str, Any]:
            if time.time() > self._deadline:
                return asdict(Result("unfinished"))
            before = self.results.get(left[number], Result("")).seconds
            began = time.monotonic()
            failure = attempt(left[number])
            seconds = round(before + time.monotonic() - began, 2)
            if failure is None:
                return asdict(Result("survived", seconds=seconds))
            self._kills[failure.test] += 1
            return asdict(Result("killed", failure.test, failure.how, seconds))

        for number, result in share(len(left), self._jobs, work):
            self._keep(left[number], Result(**result))
            yield left[number], self.results[left[number]]

    def _is_left(self, index: int) -> bool:
        return index not in self.results or self.results[index].result == "survived"

    def _keep(self, index: int, result: Result) -> None:
        self.results[index] = result
        if result.by:
            self._kills[result.by] += 1

    # The attempts. Each returns what noticed the change.

    def _run_covering(self, index: int) -> Failure | None:
        """Run the tests that execute the changed line."""
        return self._run_in_fork(index, self._find_tests(self._measured.tests, index))

    def _run_after_first_use(self, index: int) -> Failure | None:
        """Run the tests that may use a value that the changed line makes on first use."""
        covering = self._find_tests(self._measured.tests, index)
        change = self._changes[index]
        if (change.file, change.function) not in self._used_before:
            return None
        if len(covering) > _MANY and not is_cached(change):
            return None
        return self._run_in_fork(index, covering | self._find_tests_of_file(index) - self._measured.start_programs)

    def _run_programs(self, index: int) -> Failure | None:
        """Run tests that start a program: those that execute the changed line there, if that is known."""
        of_line = self._find_tests(self._measured.programs, index)
        tests = (
            self._keep_near(of_line, index)
            if of_line
            else self._find_tests_of_file(index) & self._measured.start_programs
        )
        if not tests:
            return None
        with write_to_disk(self._changes[index]):
            return self._run_in_fork(index, tests, is_on_disk=True)

    def _run_at_import(self, index: int) -> Failure | None:
        """Run tests in a process that imports the changed file.

        Not only those that execute its code: what that makes at import, such as a class, is used by others.
        """
        change = self._changes[index]
        if not needs_import(change) and not self._find_lines(index) & self._measured.imported[change.file]:
            return None
        near = self._keep_near(self._measured.seconds.keys(), index)
        tests = near - self._measured.start_programs
        covering = self._find_tests(self._measured.tests, index)
        if len(covering) <= _MANY:
            tests |= covering
        left = self._sort(_choose_one_link((tests or near) - self._measured.failed))
        seconds = self._measured.seconds
        while left and (failure := find_failure_at_import(change, left, seconds)) is not None:
            test = failure.test  # or a file that can't be collected
            if failure.how or test not in left or self._notices(change, test):
                return failure
            left = left[left.index(test) + 1 :]
        return None

    def _notices(self, change: Change, test: str) -> bool:
        """Return whether a test that runs alone fails with the change only."""
        if test not in self._passes_alone:
            self._passes_alone[test] = find_failure_at_import(None, [test], self._measured.seconds) is None
        return self._passes_alone[test] and find_failure_at_import(change, [test], self._measured.seconds) is not None

    def _run_in_fork(self, index: int, tests: Set[str], *, is_on_disk: bool = False) -> Failure | None:
        """Run tests with the changed functions. If a change on disk needs another import, only programs have it."""
        wanted = self._sort(test for test in _choose_one_link(tests) if test in self._items)
        items = [self._items[test] for test in wanted]
        try:
            changed: ChangedCode = compile_change(self._changes[index], self._functions)
        except ChangesImportError:
            if not is_on_disk:
                return None
            changed = []
        while items and (failure := find_failure(items, changed, self._measured.seconds)) is not None:
            place = wanted.index(failure.test)
            # Alone, because a test may also fail because of those before it.
            if failure.how or find_failure([items[place]], changed, self._measured.seconds):
                return failure
            wanted, items = wanted[place + 1 :], items[place + 1 :]
        return None

    def _find_tests_of_file(self, index: int) -> set[str]:
        by_line = self._measured.tests[self._changes[index].file]
        return self._keep_near({test for tests in by_line.values() for test in tests}, index)

    def _keep_near(self, tests: Set[str], index: int) -> set[str]:
        return {test for test in tests if is_near(test, self._changes[index].file)}

    def _find_lines(self, index: int) -> set[int]:
        change = self._changes[index]
        return set(lines_of_statement(change.read_source(), change.find_line()))

    def _find_tests(self, by_line: ByLine, index: int) -> set[str]:
        """Return the tests that execute the changed line; if none is known to, those that execute its function.

        Python 3.11 doesn't report each line of a coroutine.
        """
        change = self._changes[index]
        executed = by_line[change.file]
        tests = {test for line in self._find_lines(index) for test in executed.get(line, ())}
        return tests or {test for line in lines_of_function(change) for test in executed.get(line, ())}

    def _sort(self, tests: Iterable[str]) -> list[str]:
        """Return the tests, those first that have noticed most per second."""

        def worth(test: str) -> float:
            kills = self._kills[test] + 0.2
            return (
                -kills / (self._measured.seconds[test] + 0.005) * (0.1 if test in self._measured.start_programs else 1)
            )

        return sorted(tests, key=lambda test: (worth(test), test))

    def _find_cheapest_of_each_file(self) -> list[pytest.Item]:
        cheapest: dict[str, str] = {}
        for test in sorted(self._items, key=lambda test: self._measured.seconds[test]):
            if test not in self._measured.start_programs:
                cheapest.setdefault(test.split("::")[0], test)
        return [self._items[test] for test in sorted(cheapest.values())]
