"""Reads `rules.toml`: the levels of rules that differ from their verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel

from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdict
from codegen.toml import parse_toml, read_file, validate

FILE = "codegen/rules.toml"
RULES_TOML = Path(__file__).parents[2] / "rules.toml"
_NEXT_STEP = "The rules are in codegen/diff/RULES.md, their levels are breaking, risky and safe."


def _check_rule(name: str) -> str:
    if name not in RULES:
        raise ValueError(f"There is no rule {name!r}")
    return name


_Rule: TypeAlias = Annotated[str, AfterValidator(_check_rule)]


class _File(BaseModel, extra="forbid"):
    rules: dict[_Rule, Literal["breaking", "risky", "safe"]] = {}


def read_levels() -> dict[str, Verdict]:
    """Return the levels of rules.

    Raises:
        FileError: the file is missing or invalid.
    """
    content = validate(_File, parse_toml(read_file(RULES_TOML, FILE), FILE), FILE, _NEXT_STEP)
    return {rule: Verdict[level.upper()] for rule, level in content.rules.items()}


def apply_levels(findings: list[Finding], levels: dict[str, Verdict]) -> list[Finding]:
    """Return the findings, with the verdicts of rules that have a level."""
    return [_apply(finding, levels[finding.rule]) if finding.rule in levels else finding for finding in findings]


def _apply(finding: Finding, level: Verdict) -> Finding:
    same = tuple(_apply(place, level) for place in finding.same)
    return replace(finding, verdicts=finding.verdicts.at_level(level), same=same)


def note_levels(findings: list[Finding], levels: dict[str, Verdict]) -> list[str]:
    """Return a sentence about the levels that apply to findings; none if there is none."""
    applied = [f"{rule} is {level.word}" for rule, level in levels.items() if rule in {item.rule for item in findings}]
    return [f"{FILE} says: {', '.join(applied)}."] if applied else []
