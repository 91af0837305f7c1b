"""The command: `python -m tools.mutants [FOLDER...]`, or `python -m tools.mutants replay`."""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time

from tools.mutants.changes import Change, find_changes, restore
from tools.mutants.folders import FOLDERS, NOT_EXECUTED, find_files, find_tests
from tools.mutants.forks import end_programs_afterwards
from tools.mutants.known import read_equivalent
from tools.mutants.measuring import measure_tests
from tools.mutants.page import write_page
from tools.mutants.replay import replay
from tools.mutants.results import Folder, Result, describe_commit, read_folder, write_table
from tools.mutants.running import Runner


def main() -> int:
    """Run the command. Return its exit code."""
    if sys.argv[1:2] == ["replay"]:
        return replay()
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("folders", nargs="*", help="folders or files of code, by default those of the page")
    parser.add_argument("--sample", type=int, help="try so many changes of each folder")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample")
    parser.add_argument("--jobs", type=int, default=1, help="try so many changes at a time")
    parser.add_argument("--minutes", type=float, default=600, help="stop after so many minutes")
    parser.add_argument("--again", action="store_true", help="try only what survived the last run")
    parser.add_argument("--page", action="store_true", help="write the numbers of docs/project/mutants.md")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # forks are ended, and files written back
    deadline = time.time() + arguments.minutes * 60
    folders: list[Folder] = []
    for code in arguments.folders or FOLDERS:
        try:
            with end_programs_afterwards():
                folder = _try_changes(code.rstrip("/"), arguments, deadline)
        finally:
            restore()
        folder.write()
        folders.append(folder)
    print("\n".join(write_table(folders)))
    if arguments.page:
        write_page()
    return 0


def _try_changes(code: str, arguments: argparse.Namespace, deadline: float) -> Folder:
    """Try the changes of a folder."""
    changes = [change for file in find_files(code) if file != NOT_EXECUTED for change in find_changes(file)]
    before = read_folder(code) if arguments.again else None
    sample, seed = (before.sample, before.seed) if before else (arguments.sample, arguments.seed)
    chosen = changes if sample is None else random.Random(seed).sample(changes, min(sample, len(changes)))
    results = {entry.change: Result("equivalent", how=entry.reason) for entry in read_equivalent()}
    if before is not None:
        results = {change: result for change, _, result in before.results if result.result == "killed"} | results
    left = [change for change in chosen if change not in results]
    print(f"{code}: {len(changes)} changes, {len(left)} to try", flush=True)
    runner = Runner(left, measure_tests(find_tests(code), find_files(code.split("/", 1)[0])), arguments.jobs, deadline)
    for index, result in runner.run():
        _print(left[index], result)
    results |= {change: runner.results[index] for index, change in enumerate(left)}
    return Folder(
        code=code,
        commit=describe_commit(),
        sample=sample,
        seed=seed,
        changes=len(changes),
        results=[(change, change.find_line(), results[change]) for change in chosen],
    )


def _print(change: Change, result: Result) -> None:
    place = f"{change.file}:{change.find_line()} {change.function}"
    what = f"{_short(change.old)} -> {_short(change.new)}"
    print(f"{result.result:9} {result.seconds:5.1f} s {place}: {what} | {result.by} {result.how}", flush=True)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:39]}…{text[-40:]}"


if __name__ == "__main__":
    sys.exit(main())
