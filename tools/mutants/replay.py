"""Tries the changes of survivors.toml again: `python -m tools.mutants replay`, which `make test` runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tools.mutants.forks import Report, fork, reports, share
from tools.mutants.known import Known, read_equivalent, read_survivors
from tools.mutants.live import ChangesImportError, Functions, compile_change, find_functions
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


def replay() -> int:
    """Try each change with the tests that notice it, and print what is wrong. Return the exit code."""
    known = read_survivors()
    files = sorted({test.split("::")[0] for entry in known for test in entry.tests})

    def run(report: Report) -> None:
        def try_all(items: list[pytest.Item]) -> None:
            functions = find_functions({entry.change.file for entry in known})

            def problem(index: int) -> str:
                return _find_problem(known[index], items, functions)

            for _, text in share(len(known), _AT_ONCE, problem):
                report(text)

        pytest.main([*files, *PYTEST_ARGUMENTS], plugins=[Collected(try_all)])

    with fork(run) as forked:
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


def _find_problem(entry: Known, items: Sequence[pytest.Item], functions: Functions) -> str:
    """Try a change. Return what is wrong, or an empty text."""
    sentence = _describe_problem(entry, items, functions)
    change = entry.change
    tests = "".join(f"\n    {test}" for test in entry.tests)
    return f"{change.file}, {change.function}: {change.old} -> {change.new}{tests}\n  {sentence}" if sentence else ""


def _describe_problem(entry: Known, items: Sequence[pytest.Item], functions: Functions) -> str:
    tests = [item for item in items if {item.nodeid, item.nodeid.split("[")[0]} & set(entry.tests)]
    names = {name for item in tests for name in (item.nodeid, item.nodeid.split("[")[0])}
    if not names.issuperset(entry.tests):
        return _NO_SUCH_TEST
    try:
        changed = compile_change(entry.change, functions)
    except LookupError:
        return _GONE
    except ChangesImportError:
        return _AT_IMPORT
    return _NOT_NOTICED if find_failure(tests, changed, {}, patience=_PATIENCE) is None else ""
