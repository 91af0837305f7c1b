"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

VERDICTS = {True: "pass", False: "MISSED", None: "not measured"}


def lines_of(result: dict[str, Any]) -> Iterator[str]:
    """A row of results: what each implementation reached, then the bars."""
    yield f"{result['name']}: {result['what']}"
    for quantity in result["quantities"]:
        for name, spread in quantity["by"].items():
            middle, low, high = (number(spread[key]) for key in ("median", "low", "high"))
            yield f"    {name:16}{middle:>10} {quantity['unit']:12} ({low} to {high})"
    for name, reason in result["missing"].items():
        yield f"    {name:16}{'missing':>10} {reason}"
    for bar in result["bars"]:
        yield _bar(bar)
    yield ""


def _bar(bar: dict[str, Any]) -> str:
    limit = f"{bar['sign']} {number(bar['limit'])}"
    if bar["ratio"] is None:
        return f"  {bar['name']:32}{'':8} {'':20} {limit:8} {VERDICTS[None]}"
    middle, low, high = (f"{bar['ratio'][key]:.2f}" for key in ("median", "low", "high"))
    return f"  {bar['name']:32}{middle:>8} {f'({low} to {high})':20} {limit:8} {VERDICTS[bar['passed']]}"


def number(value: float) -> str:
    """With three digits that matter."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")
