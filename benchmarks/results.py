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


def summarize(row: Row, samples: dict[str, list[Sample]]) -> dict[str, Any]:
    """Return a row's medians, quartiles and verdicts, with all samples."""
    return {
        "name": row.name,
        "description": row.description,
        "quantities": [_summarize_quantity(quantity, samples) for quantity in row.quantities],
        "targets": [_summarize_target(target, samples, names_key=len(row.quantities) > 1) for target in row.targets],
        "missing": row.missing,
        "samples": {name: [_round(sample) for sample in measured] for name, measured in samples.items()},
    }


def _summarize_quantity(quantity: Quantity, samples: dict[str, list[Sample]]) -> dict[str, Any]:
    shown = {
        name: [quantity.shown(sample[quantity.key]) for sample in measured if quantity.key in sample]
        for name, measured in samples.items()
    }
    return {
        "key": quantity.key,
        "unit": quantity.unit,
        "by": {name: _round(asdict(Spread.of(values))) for name, values in shown.items() if values},
    }


def _summarize_target(target: Target, samples: dict[str, list[Sample]], *, names_key: bool) -> dict[str, Any]:
    name = target.key
    if target.under is not None:
        name = f"{target.over} / {target.under}"
        if names_key:
            name += f" ({target.key})"
    result: dict[str, Any] = {"name": name, "key": target.key, "sign": target.sign, "limit": target.limit}
    ratios = target.ratios(samples)
    if not ratios:
        return {**result, "ratio": None, "passed": None}
    ratio = Spread.of(ratios)
    return {**result, "ratio": _round(asdict(ratio)), "passed": target.is_passed(ratio.median)}


def _round(sample: Sample) -> Sample:
    """Return the numbers with five significant digits."""
    return {key: float(f"{value:.5g}") for key, value in sample.items()}


def describe_machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def find_versions(implementations: Implementations) -> dict[str, str]:
    """Return the versions of everything that was measured."""
    versions = {
        "acp-bindings": f"{version('acp-bindings')} ({_output('git', 'describe', '--always', '--dirty')})",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "pydantic": version("pydantic"),
        "pydantic-core": version("pydantic-core"),
        "uvicorn": version("uvicorn"),
        "websockets": version("websockets"),
    }
    if PYTHON_SDK not in implementations.missing:
        versions[PYTHON_SDK] = third_party.PYTHON_SDK
        versions[NEXT] = third_party.NEXT_PYTHON_SDK
    if TYPESCRIPT_SDK not in implementations.missing:
        versions[TYPESCRIPT_SDK] = third_party.TYPESCRIPT_SDK
        versions["Node.js"] = _output("node", "--version").removeprefix("v")
    return versions


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _output(*command: str) -> str:
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return process.stdout.strip()
