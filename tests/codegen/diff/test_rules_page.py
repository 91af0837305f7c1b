"""codegen/diff/RULES.md explains every rule, and findings link to it."""

from __future__ import annotations

import json
import re

from codegen.diff.render.json import write_json
from codegen.diff.render.markdown import write_markdown
from codegen.diff.report import Report, compare
from codegen.diff.verdict.rules import RULES
from tests.codegen.diff.rules_page import PAGE, write_page
from tests.support.codegen.build import STRING, model
from tests.support.diff.cases import around
from tests.support.diff.sides import side


def report() -> Report:
    return compare(side(around("request", model(x=STRING))), side(around("request", model(["x"], x=STRING, y=STRING))))


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == write_page(), "Run .venv/bin/python -m tests.codegen.diff.rules_page"


def test_the_page_has_a_heading_for_every_rule() -> None:
    assert set(re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)) == set(RULES)


def test_a_finding_links_to_its_rule() -> None:
    link = "/blob/main/codegen/diff/RULES.md#property-became-required"
    text = write_markdown(report())
    assert "[`property-became-required`]," in text
    assert re.search(rf"^\[`property-became-required`\]: https://.*{link}$", text, re.MULTILINE)
    values = json.loads(write_json(report()))
    assert link in {finding["rule"]: finding["help"] for finding in values["findings"]}["property-became-required"]
