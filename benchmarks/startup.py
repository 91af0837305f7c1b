"""What importing costs: each script as a process of its own, in turn, against the first as the floor.

    python -m benchmarks.startup [--runs 15] [--json]

Prints the median CPU time, wall time and peak memory of each, and the median of the ratios to the floor, taken
run by run so that a machine whose speed drifts changes both sides alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

_BARE = """
from pydantic import BaseModel
class Model(BaseModel):
    x: int
"""

_IMPORT = "import acp_bindings.v1"

# All of what an agent needs to answer `initialize`, but for the pipe.
_INITIALIZE = """
from acp_bindings.v1 import Agent, AgentCapabilities, InitializeRequest, InitializeResponse

class Echo(Agent):
    async def initialize(self, request):
        return InitializeResponse(
            protocol_version=request.protocol_version, agent_capabilities=AgentCapabilities(load_session=True)
        )
    async def session_new(self, request): ...
    async def session_prompt(self, request): ...

request = InitializeRequest.model_validate_json(
    '{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}},"clientInfo":{"name":"e","version":"1"}}'
)
try:
    Echo().initialize(request).send(None)
except StopIteration as done:
    done.value.model_dump_json()
"""

SCRIPTS = {
    "pydantic and one model": _BARE,
    "import acp_bindings.v1": _IMPORT,
    "answer initialize": _INITIALIZE,
}


@dataclass(frozen=True)
class Run:
    """One process: seconds of CPU, seconds of wall time, peak resident memory in MiB."""

    cpu: float
    wall: float
    memory: float


def run(script: str) -> Run:
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", script], env=_environment())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the script failed with exit code {process.returncode}:\n{script}")
    return Run(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)


def _environment() -> dict[str, str]:
    """Installed packages come with their bytecode; so do these scripts' imports after the first run."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(runs: int) -> dict[str, dict[str, float]]:
    for script in SCRIPTS.values():  # once to fill the caches
        run(script)
    rounds = [{name: run(script) for name, script in SCRIPTS.items()} for _ in range(runs)]
    floor = next(iter(SCRIPTS))
    return {name: _row([each[name] for each in rounds], [each[floor] for each in rounds]) for name in SCRIPTS}


def _row(mine: list[Run], floor: list[Run]) -> dict[str, float]:
    median = {key: statistics.median(getattr(each, key) for each in mine) for key in asdict(mine[0])}
    pairs = list(zip(mine, floor, strict=True))
    ratios = {f"{key}_ratio": statistics.median(getattr(a, key) / getattr(b, key) for a, b in pairs) for key in median}
    return median | ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.runs)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"median of {options.runs} runs on Python {sys.version.split()[0]}; ratios to the first row")
    print(f"{'':26}{'CPU ms':>8}{'ratio':>7}{'wall ms':>9}{'ratio':>7}{'MiB':>7}{'ratio':>7}")
    for name, row in rows.items():
        print(
            f"{name:26}{row['cpu'] * 1000:8.0f}{row['cpu_ratio']:7.2f}{row['wall'] * 1000:9.0f}"
            f"{row['wall_ratio']:7.2f}{row['memory']:7.1f}{row['memory_ratio']:7.2f}"
        )


if __name__ == "__main__":
    main()
