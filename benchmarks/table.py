"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

VERDICTS = {True: "pass", False: "MISSED", None: "not measured"}


def lines_of(result: dict[str, Any]) -> Iterator[str]:
    """A row of results: what each implementation reached, median and quartiles, then the bars."""
    yield f"{result['name']}: {result['what']}"
    quantities: list[dict[str, Any]] = result["quantities"]
    yield _columns("", [each["unit"] for each in quantities])
    for name in quantities[0]["by"]:
        yield _columns(name, [spread(each["by"][name]) for each in quantities])
    for name, reason in result["missing"].items():
        yield _columns(name, [f"missing: {reason}"])
    for bar in result["bars"]:
        yield f"    {bar['name']:28}{said(bar):24}{limit(bar):10}{VERDICTS[bar['passed']]}"
    yield ""


def _columns(name: str, cells: list[str]) -> str:
    return f"    {name:16}{''.join(f'{cell:28}' for cell in cells)}".rstrip()


def spread(values: dict[str, float]) -> str:
    """A median with its quartiles."""
    return f"{number(values['median'])} ({number(values['low'])} to {number(values['high'])})"


def said(bar: dict[str, Any]) -> str:
    """A bar's ratio with its quartiles."""
    ratio: dict[str, float] | None = bar["ratio"]
    return "" if ratio is None else f"{ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"


def limit(bar: dict[str, Any]) -> str:
    """What the ratio has to be."""
    return f"{bar['sign']} {bar['limit']:g}"


def number(value: float) -> str:
    """With three digits that matter."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")
