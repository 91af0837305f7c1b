"""Results as plain data, which `--json` writes and from which tables and plots are made."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.implementations import NEXT, PYTHON_SDK, TYPESCRIPT_SDK, Implementations, Sample
from benchmarks.measuring import Quantity, Row, Spread, Target
from tools import third_party


def result_of(row: Row, samples: dict[str, list[Sample]]) -> dict[str, Any]:
    """Return a row's medians, quartiles and verdicts, with all samples."""
    return {
        "name": row.name,
        "description": row.description,
        "quantities": [_quantity(each, samples) for each in row.quantities],
        "targets": [_target(each, samples, several=len(row.quantities) > 1) for each in row.targets],
        "missing": row.missing,
        "samples": {name: [_short(sample) for sample in measured] for name, measured in samples.items()},
    }


def _quantity(quantity: Quantity, samples: dict[str, list[Sample]]) -> dict[str, Any]:
    shown = {
        name: [quantity.shown(sample[quantity.key]) for sample in measured if quantity.key in sample]
        for name, measured in samples.items()
    }
    return {
        "key": quantity.key,
        "unit": quantity.unit,
        "by": {name: _short(asdict(Spread.of(values))) for name, values in shown.items() if values},
    }


def _target(target: Target, samples: dict[str, list[Sample]], *, several: bool) -> dict[str, Any]:
    pair = f"{target.over} / {target.under}"
    name = target.key if target.under is None else f"{pair} ({target.key})" if several else pair
    result: dict[str, Any] = {"name": name, "key": target.key, "sign": target.sign, "limit": target.limit}
    ratios = target.ratios(samples)
    if not ratios:
        return {**result, "ratio": None, "passed": None}
    ratio = Spread.of(ratios)
    return {**result, "ratio": _short(asdict(ratio)), "passed": target.is_passed(ratio.median)}


def _short(sample: Sample) -> Sample:
    return {key: float(f"{value:.5g}") for key, value in sample.items()}


def machine() -> dict[str, Any]:
    """Describe the machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def versions(implementations: Implementations) -> dict[str, str]:
    """Return the versions of everything that was measured."""
    ours = {
        "acp-bindings": f"{version('acp-bindings')} ({_output('git', 'describe', '--always', '--dirty')})",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "pydantic": version("pydantic"),
        "pydantic-core": version("pydantic-core"),
        "uvicorn": version("uvicorn"),
        "websockets": version("websockets"),
    }
    if PYTHON_SDK not in implementations.missing:
        ours[PYTHON_SDK], ours[NEXT] = third_party.PYTHON_SDK, third_party.NEXT_PYTHON_SDK
    if TYPESCRIPT_SDK not in implementations.missing:
        ours[TYPESCRIPT_SDK] = third_party.TYPESCRIPT_SDK
        ours["Node.js"] = _output("node", "--version").removeprefix("v")
    return ours


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _output(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()
