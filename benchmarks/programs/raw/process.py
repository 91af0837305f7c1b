"""Measure a whole process: `process.py <command> [<argument> ...]` runs it until it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main(command: list[str]) -> None:
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the process ended with exit code {process.returncode}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps({"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "peak": peak}))


if __name__ == "__main__":
    main(sys.argv[1:])
