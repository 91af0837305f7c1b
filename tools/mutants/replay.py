"""Tries the changes of survivors.toml again: `python -m tools.mutants replay`, which `make test` runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pytest

from tools.mutants.forks import Report, end_programs_afterwards, fork, reports, share
from tools.mutants.known import Known, read_equivalent, read_survivors
from tools.mutants.live import ChangedCode, ChangesImportError, Functions, compile_change, find_functions
from tools.mutants.measuring import PYTEST_ARGUMENTS
from tools.mutants.running import Collected, find_failure

# Most of the time passes while a test waits for what a change prevents.
_AT_ONCE = 8
# The tests take fractions of a second. Some changes make one run in circles.
_PATIENCE = 1
_GONE = "The text is gone. Adapt the entry of tools/mutants/survivors.toml to the code, or delete it with the code."
_NO_SUCH_TEST = "A test is gone. Name in tools/mutants/survivors.toml the tests that fail with this change."
_AT_IMPORT = (
    "This is executed at import, where it can't be tried again. Delete the entry of tools/mutants/survivors.toml."
)
_NOT_NOTICED = "No test notices this change: the tests that tools/mutants/survivors.toml names for it pass with it."


class _Attempt(NamedTuple):
    """A change to try, or what is wrong with its entry."""

    tests: Sequence[pytest.Item] = ()
    changed: ChangedCode = ()
    problem: str = ""


def replay() -> int:
    """Try each change with the tests that notice it, and print what is wrong. Return the exit code."""
    known = read_survivors()
    files = sorted({test.split("::")[0] for entry in known for test in entry.tests})

    def run(report: Report) -> None:
        def try_all(items: list[pytest.Item]) -> None:
            # Before the forks, because each would copy the memory that this uses.
            attempts = _prepare(known, items)
            for index, problem in share(len(known), _AT_ONCE, lambda index: _find_problem(attempts[index])):
                report(_describe(known[index], problem) if problem else "")

        pytest.main([*files, *PYTEST_ARGUMENTS], plugins=[Collected(try_all)])

    with end_programs_afterwards(), fork(run) as forked:
        texts: list[str] = list(reports(forked))
    problems = [*_find_gone_equivalents(), *(text for text in texts if text)]
    if len(texts) < len(known):
        problems.append("Not all changes of tools/mutants/survivors.toml were tried: the tests can't be collected.")
    print("\n".join(problems))
    return 1 if problems else 0


def _find_gone_equivalents() -> Iterator[str]:
    """Yield a sentence for each equivalent change whose text is gone."""
    for entry in read_equivalent():
        try:
            entry.change.find_line()
        except LookupError as error:
            yield f"{error} Adapt the entry of tools/mutants/equivalent.toml to the code, or delete it with the code."


def _prepare(known: Sequence[Known], items: Sequence[pytest.Item]) -> list[_Attempt]:
    functions = find_functions({entry.change.file for entry in known})
    by_name: dict[str, list[pytest.Item]] = {}
    for item in items:
        for name in {item.nodeid, item.nodeid.split("[")[0]}:
            by_name.setdefault(name, []).append(item)
    return [_prepare_attempt(entry, by_name, functions) for entry in known]


def _prepare_attempt(entry: Known, by_name: Mapping[str, Sequence[pytest.Item]], functions: Functions) -> _Attempt:
    if not by_name.keys() >= set(entry.tests):
        return _Attempt(problem=_NO_SUCH_TEST)
    tests = [item for name in entry.tests for item in by_name[name]]
    try:
        return _Attempt(tests, compile_change(entry.change, functions))
    except LookupError:
        return _Attempt(problem=_GONE)
    except ChangesImportError:
        return _Attempt(problem=_AT_IMPORT)


def _find_problem(attempt: _Attempt) -> str:
    """Try a change. Return what is wrong, or an empty text."""
    if attempt.problem or find_failure(attempt.tests, attempt.changed, {}, patience=_PATIENCE):
        return attempt.problem
    return _NOT_NOTICED


def _describe(entry: Known, problem: str) -> str:
    change = entry.change
    tests = "".join(f"\n    {test}" for test in entry.tests)
    return f"{change.file}, {change.function}: {change.old} -> {change.new}{tests}\n  {problem}"
