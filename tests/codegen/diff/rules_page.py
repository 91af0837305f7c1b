"""Writes codegen/diff/RULES.md, which explains every rule with the finding of its first case: run this module."""

from __future__ import annotations

from codegen.diff.render.markdown import write_item
from codegen.diff.render.sentences import RULES_PAGE
from codegen.diff.report import Report, compare
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.rules import RULES
from tests.codegen.diff.cases import CASES, METHOD_CASES
from tests.codegen.diff.cases.methods import compare_case
from tests.support.diff.sides import side
from tools.paths import ROOT

PAGE = ROOT / RULES_PAGE
_TOP = """# The rules of the report

Each kind of change is a rule. Each example is what the report says of one small change. Elsewhere, the verdicts can
differ: on the wire, a change is safe where no message contains it, and risky where the schema tolerates invalid values.
[schema-upgrades.md](../../docs/project/schema-upgrades.md#the-report) explains the verdicts, and
[rules.toml](../rules.toml) raises or lowers a rule.

`.venv/bin/python -m tests.codegen.diff.rules_page` writes this page.
"""


def write_page() -> str:
    examples = _find_examples()
    return "\n".join([_TOP, *(_write_rule(rule, examples[rule]) for rule in RULES)])


def _find_examples() -> dict[str, Finding]:
    """Return the finding of the first case of each rule."""
    examples: dict[str, Finding] = {}
    for case in CASES:
        if case.rule not in examples:
            report = compare(side(case.definitions("old")), side(case.definitions("new")))
            examples[case.rule] = _find(report, case.rule)
    for method_case in METHOD_CASES:
        if method_case.rule not in examples:
            examples[method_case.rule] = _find(compare_case(method_case), method_case.rule)
    return examples


def _find(report: Report, rule: str) -> Finding:
    return next(finding for finding in report.findings if finding.rule == rule)


def _write_rule(rule: str, example: Finding) -> str:
    item = write_item([example]).replace("  \n", "\n").replace(f", [`{rule}`], `{example.fingerprint}`", "")
    sentence = "" if RULES[rule].sentence in item else f"{RULES[rule].sentence}\n\n"
    return f"## {rule}\n\n{sentence}```text\n{item}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(write_page(), "utf-8")
