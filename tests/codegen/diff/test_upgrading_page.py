"""The examples of the report's output in docs/project/schema-upgrades.md are real output."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from codegen.diff.render.markdown import markdown
from codegen.diff.report import compare
from codegen.diff.verdict.findings import Failure
from tests.support.codegen.build import STRING, model
from tests.support.diff.cases import around
from tests.support.diff.sides import side
from tests.support.paths import ROOT

EXAMPLES = [
    example.rstrip()
    for example in re.findall(
        r"```text\n(- 🔴 .*?)\n```", (ROOT / "docs/project/schema-upgrades.md").read_text("utf-8"), re.DOTALL
    )
]
BEFORE = model(cwd=STRING, label=STRING)
AFTER = model(["cwd", "label"], cwd=STRING, label=STRING)
FAILURE = Failure(
    "tests/typing/user_code/v1_client.py",
    93,
    'session = await agent.session_new(cwd="/work", mcp_servers=[server])',
    'Missing named argument "label" for "session_new" of "RemoteAgent"',
)


@pytest.fixture(scope="module")
def output() -> str:
    report = compare(side(around("request", BEFORE)), side(around("request", AFTER)))
    findings = [
        replace(finding, failures=(FAILURE,)) if finding.subject == "NewSessionRequest.label" else finding
        for finding in report.findings
    ]
    return markdown(replace(report, findings=tuple(findings)))


def test_there_are_two_examples() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_what_the_command_prints(example: str, output: str) -> None:
    assert example in output.replace("  \n", "\n")
