"""The example of a finding in docs/project/schema-upgrades.md is real output."""

from __future__ import annotations

import re
from dataclasses import replace

from codegen.diff.render.markdown import write_markdown
from codegen.diff.report import compare
from codegen.diff.verdict.findings import Failure
from tests.support.codegen.build import STRING, model
from tests.support.diff.cases import around
from tests.support.diff.sides import side
from tools.paths import ROOT

PAGE = (ROOT / "docs/project/schema-upgrades.md").read_text("utf-8")
BEFORE = model(label=STRING)
AFTER = model(["label"], label=STRING)
FAILURE = Failure(
    "tests/typing/user_code/v1_client.py",
    93,
    'session = await agent.session_new(cwd="/work", mcp_servers=[server])',
    'Missing named argument "label" for "session_new" of "RemoteAgent"',
)


def test_the_example_is_what_the_command_prints() -> None:
    (example,) = re.findall(r"```text\n(- 🔴 .*?)\n```", PAGE, re.DOTALL)
    report = compare(side(around("request", BEFORE)), side(around("request", AFTER)))
    findings = [
        replace(finding, failures=(FAILURE,)) if finding.subject == "NewSessionRequest.label" else finding
        for finding in report.findings
    ]
    assert example.rstrip() in write_markdown(replace(report, findings=tuple(findings))).replace("  \n", "\n")
