"""Format results as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

VERDICTS = {True: "pass", False: "MISSED", None: "not measured"}


def text_lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield a row of results for the terminal: median and quartiles of each implementation, then the targets."""
    yield f"{result['name']}: {result['description']}"
    quantities: list[dict[str, Any]] = result["quantities"]
    yield _columns("", [quantity["unit"] for quantity in quantities])
    for name in quantities[0]["by"]:
        yield _columns(name, [spread(quantity["by"][name]) for quantity in quantities])
    for name, reason in result["missing"].items():
        yield _columns(name, [f"missing: {reason}"])
    for target in result["targets"]:
        yield f"    {target['name']:28}{ratio(target):24}{limit(target):10}{VERDICTS[target['passed']]}"
    yield ""


def _columns(name: str, cells: list[str]) -> str:
    return f"    {name:16}{''.join(f'{cell:28}' for cell in cells)}".rstrip()


def spread(values: dict[str, float]) -> str:
    """Return a median with its quartiles."""
    return f"{number(values['median'])} ({number(values['low'])} to {number(values['high'])})"


def ratio(target: dict[str, Any]) -> str:
    """Return a target's measured ratio with its quartiles."""
    values: dict[str, float] | None = target["ratio"]
    if values is None:
        return ""
    return f"{_decimal(values['median'])} ({_decimal(values['low'])} to {_decimal(values['high'])})"


def median_ratio(target: dict[str, Any]) -> str:
    """Return a target's median ratio."""
    return "" if target["ratio"] is None else _decimal(target["ratio"]["median"])


def _decimal(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.6f}".rstrip("0")


def limit(target: dict[str, Any]) -> str:
    """Return a target's limit for the ratio."""
    return f"{target['sign']} {target['limit']:g}"


def number(value: float) -> str:
    """Return a number with three significant digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")
