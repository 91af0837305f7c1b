"""Compares the official connections with ours for the same program, in pairs: `python -m benchmarks.official [PAIRS]`.

Prints the medians of microseconds, and of the ratios official/ours within each pair.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

CLIENT = Path(__file__).with_name("client.py")
UPDATES, TURNS = 5000, 1000
ROWS = {
    "received": "received update, CPU of the client",
    "sent": "sent update, CPU of the agent",
    "called": "empty prompt, CPU of the client",
    "stream": "update, from agent to handler (on a quiet machine)",
    "turn": "empty prompt, until its response (on a quiet machine)",
}


def measure(package: str) -> dict[str, float]:
    command = [sys.executable, str(CLIENT), package, str(UPDATES), str(TURNS)]
    seconds: dict[str, float] = json.loads(subprocess.check_output(command))
    return seconds


def main(pairs: int) -> None:
    measured = [(measure("acp"), measure("acp_kit.official")) for _ in range(pairs)]
    print(f"| medians of {pairs} pairs | official, µs | ours, µs | ratio |\n| --- | --- | --- | --- |")
    for row, title in ROWS.items():
        official, ours = (median(pair[side][row] for pair in measured) for side in (0, 1))
        ratio = median(pair[0][row] / pair[1][row] for pair in measured)
        print(f"| {title} | {official * 1e6:.0f} | {ours * 1e6:.0f} | {ratio:.1f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
