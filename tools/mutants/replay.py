"""Tries the changes of survivors.toml again: `python -m tools.mutants replay`, which `make test` runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tools.mutants.forks import Report, fork, reports
from tools.mutants.known import Known, survivors
from tools.mutants.live import ChangesImportError, Functions, changed_code, live_functions
from tools.mutants.measuring import PYTEST_ARGUMENTS
from tools.mutants.running import Collected, first_failure

_GONE = "The text is gone. Adapt the entry of tools/mutants/survivors.toml to the code, or delete it with the code."
_NO_SUCH_TEST = "A test is gone. Name in tools/mutants/survivors.toml the tests that fail with this change."
_AT_IMPORT = (
    "This is executed at import, where it can't be tried again. Delete the entry of tools/mutants/survivors.toml."
)
_NOT_NOTICED = "No test notices this change: those that are named for it in tools/mutants/survivors.toml pass with it."


def replay() -> int:
    """Try each change with the tests that notice it, and print what is wrong. Return the exit code."""
    known = survivors()
    files = sorted({test.split("::")[0] for entry in known for test in entry.tests})

    def run(report: Report) -> None:
        def try_all(items: list[pytest.Item]) -> None:
            for problem in _problems(known, items):
                report(problem)
            report("end")

        pytest.main([*files, *PYTEST_ARGUMENTS], plugins=[Collected(try_all)])

    with fork(run) as forked:
        *problems, last = ["", *reports(forked)]
    if last != "end":
        problems.append("The tests of tools/mutants/survivors.toml can't be collected.")
    print("\n".join(problems).strip())
    return 1 if problems[1:] else 0


def _problems(known: Sequence[Known], items: Sequence[pytest.Item]) -> Iterator[str]:
    functions = live_functions({entry.change.file for entry in known})
    for entry in known:
        problem = _problem(entry, items, functions)
        if problem is not None:
            change = entry.change
            tests = "".join(f"\n    {test}" for test in entry.tests)
            yield f"{change.file}, {change.function}: {change.old} -> {change.new}{tests}\n  {problem}"


def _problem(entry: Known, items: Sequence[pytest.Item], functions: Functions) -> str | None:
    tests = [item for item in items if {item.nodeid, item.nodeid.split("[")[0]} & set(entry.tests)]
    names = {name for item in tests for name in (item.nodeid, item.nodeid.split("[")[0])}
    if not names.issuperset(entry.tests):
        return _NO_SUCH_TEST
    try:
        changed = changed_code(entry.change, functions)
    except LookupError:
        return _GONE
    except ChangesImportError:
        return _AT_IMPORT
    return _NOT_NOTICED if first_failure(tests, changed, {}) is None else None
