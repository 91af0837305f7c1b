"""Tries the changes of survivors.toml again: `python -m tools.mutants replay`, which `make test` runs."""

from __future__ import annotations

import pytest

from tools.mutants.forks import Report, fork, reports
from tools.mutants.known import Known, survivors
from tools.mutants.live import ChangesImportError, changed_code, live_functions
from tools.mutants.measuring import PYTEST_ARGUMENTS
from tools.mutants.running import Collected, first_failure


def replay() -> int:
    """Try each change with the tests that notice it, and print what is wrong. Return the exit code."""
    known = survivors()
    files = sorted({test.split("::")[0] for entry in known for test in entry.tests})

    def run(report: Report) -> None:
        arguments = [*files, *PYTEST_ARGUMENTS]
        pytest.main(arguments, plugins=[Collected(lambda items: _replay(known, items, report))])

    with fork(run) as forked:
        messages = list(reports(forked))
    if not messages or messages[-1] != "":
        print("The tests of tools/mutants/survivors.toml can't be collected.")
        return 1
    for message in messages[:-1]:
        print(message)
    return 1 if messages[:-1] else 0


def _replay(known: list[Known], items: list[pytest.Item], report: Report) -> None:
    functions = live_functions({entry.change.file for entry in known})
    for entry in known:
        change = entry.change
        place = f"{change.file}, {change.function}: {change.old!r} → {change.new!r}"
        tests = [item for item in items if item.nodeid.split("[")[0] in entry.tests or item.nodeid in entry.tests]
        missing = [test for test in entry.tests if not any(item.nodeid.startswith(test) for item in tests)]
        if missing:
            report(f"{place}\n  No such test: {', '.join(missing)}. Name the tests that fail with this change.")
            continue
        try:
            changed = changed_code(change, functions)
        except LookupError:
            report(
                f"{place}\n  The text is gone. Change the entry in tools/mutants/survivors.toml as the code was changed, or delete it with the code."
            )
            continue
        except ChangesImportError:
            report(f"{place}\n  The change is executed at import, where it can't be tried again. Delete the entry.")
            continue

        def put(changed=changed) -> None:
            for function, code in changed:
                function.__code__ = code

        if first_failure(tests, {}, put) is None:
            report(
                f"{place}\n  No test notices this change: {', '.join(entry.tests)} pass with it. Mend them, or write another test."
            )
    report("")
