"""The step that upgrades the schema: a commit with the report, or the error."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.workflows import Workflow

# In place of codegen: prints its arguments, and has the effect that a test gives it.
CODEGEN = """
import sys
from pathlib import Path

print("upgraded", sys.argv[1:3])
report = Path(sys.argv[sys.argv.index("--report") + 1])
"""
UPGRADED = """
report.mkdir()
(report / "report.md").write_text("The report")
(report / "report.json").write_text('{"worst": "risky"}')
Path("schema/PINNED.json").write_text('{"source": "folder:sdk@2.0.0"}')
Path("generated/new.py").touch()
"""


def upgrade(workflow: Workflow, effect: str, source: str = "npm:sdk@latest") -> int:
    """Run the step with a codegen that has an effect."""
    codegen = {"codegen/__init__.py": "", "codegen/__main__.py": CODEGEN + effect}
    workflow.commit({**codegen, ".gitignore": ".venv\n__pycache__\n"}, push=["main"])
    (workflow.clone / ".venv/bin").mkdir(parents=True)
    (workflow.clone / ".venv/bin/python").symlink_to(sys.executable)
    return workflow.run("upgrade", FROM=source)


def test_a_new_schema_becomes_one_commit_with_the_report(workflow: Workflow) -> None:
    assert upgrade(workflow, UPGRADED) == 0
    assert workflow.summary == "```\nupgraded ['upgrade', 'npm:sdk@latest']\n```\n\nThe report\n"
    assert workflow.outputs == {"verdict": "risky"}
    message = workflow.git("show", "--no-patch", "--format=%an %B", "schema-upgrade")
    assert message == "github-actions[bot] Upgrade the schema to folder:sdk@2.0.0\n\nThe report"
    changed = workflow.git("diff", "--name-only", "main", "schema-upgrade").splitlines()
    assert changed == ["generated/new.py", "schema/PINNED.json"]
    bundle = workflow.git("bundle", "list-heads", str(workflow.home / "schema-upgrade/bundle"))
    assert bundle == f"{workflow.git('rev-parse', 'schema-upgrade')} refs/heads/schema-upgrade"


def test_a_release_with_the_pinned_schema_is_only_in_the_summary(workflow: Workflow) -> None:
    assert upgrade(workflow, "Path('schema/PINNED.json').touch()") == 0
    assert workflow.summary.startswith("```\nupgraded ")
    assert (workflow.outputs, workflow.git("branch", "--list")) == ({}, "* main")


@pytest.mark.parametrize(("code", "without_rule"), [(1, "true"), (2, "")])
def test_a_failed_upgrade_reports_the_error_and_whether_a_rule_is_missing(
    workflow: Workflow, code: int, without_rule: str
) -> None:
    assert upgrade(workflow, f"print('more\\ncodegen: Wrong.\\nmore', file=sys.stderr); sys.exit({code})") == code
    assert workflow.summary == "No upgrade:\n\n    codegen: Wrong.\n"
    assert workflow.outputs == {"error": "codegen: Wrong.", "without_rule": without_rule}
    assert workflow.git("branch", "--list") == "* main"


def test_an_error_of_another_form_refers_to_the_log(workflow: Workflow, capfd: pytest.CaptureFixture[str]) -> None:
    assert upgrade(workflow, "raise SystemExit('Killed')") == 1
    assert workflow.outputs["error"] == "See the log."
    assert "Killed" in capfd.readouterr().out


def test_the_source_is_passed_to_codegen_as_it_is(workflow: Workflow) -> None:
    source = """$(touch x)`touch x`"; touch x; \""""
    assert upgrade(workflow, "", source) == 0
    assert str(["upgrade", source]) in workflow.summary
    assert json.loads((workflow.clone / "schema/PINNED.json").read_text("utf-8"))["source"] == "folder:sdk@1.0.0"
    assert not (workflow.clone / "x").exists()
