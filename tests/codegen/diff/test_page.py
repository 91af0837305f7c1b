"""The HTML page, without a browser: it is well-formed and complete, and foreign text in it is escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from codegen.diff.render.html import html
from codegen.diff.render.json import json_values
from codegen.diff.report import Report, compare
from codegen.diff.verdict.failures import UNPREDICTED, Failure, UserCode
from codegen.diff.verdict.findings import Finding
from tests.support.codegen.build import STRING, Schema
from tests.support.diff.cases import around, holds
from tests.support.diff.pages import Element, failing, large, page_of
from tests.support.diff.sides import side

EVIL = """</code></script><script>alert("1")</script><b onclick='x'>&amp;"""
EVIL_FAILURE = Failure(EVIL, 1, EVIL, EVIL)
NOTHING = Report("base", "head", (), {"v1": 0}, ("v1",))


@pytest.fixture(scope="module")
def page() -> Element:
    return page_of(large())


def heading_of(article: Element) -> tuple[str, str]:
    return article.attributes["id"], article.one("h4").words


def test_the_large_report_has_every_verdict_and_direction() -> None:
    found = {(each.worst.word, each.flow) for each in large().findings}
    assert {verdict for verdict, _ in found} == {"breaking", "risky", "safe"}
    assert {flow for _, flow in found} == {"client->agent", "agent->client", "both", "none"}


def test_every_finding_of_the_json_is_in_the_page_once(page: Element) -> None:
    expected = [
        (each["fingerprint"], f"{each['worst']} {each['subject']}") for each in json_values(large())["findings"]
    ]
    assert sorted(map(heading_of, page.all("article"))) == sorted(expected)


def test_a_finding_shows_its_complete_old_and_new_text(page: Element) -> None:
    findings = {each.fingerprint: each for each in large().findings}
    for article in page.all("article"):
        finding = findings[article.attributes["id"]]
        sides = [each.text for each in list(article.all("dd"))[:2]] if "sides" in _classes(article) else ["nothing"] * 2
        assert sides == [finding.before or "nothing", finding.after or "nothing"]
        for text in (finding.sentence, finding.rule, *finding.symbols, finding.old, finding.new, *finding.methods):
            assert text in article.text
        assert all(each.text for each in article.all("code"))


def _classes(element: Element) -> set[str]:
    return {each.attributes.get("class", "") for each in element.all()}


def test_words_that_differ_are_marked() -> None:
    before, after = ({"type": "string", "maxLength": limit} for limit in (10, 20))
    page = page_of(compare(side(around("request", holds(before))), side(around("request", holds(after))), []))
    assert [(each.tag, each.text) for each in page.all("del", "ins")] == [("del", "10"), ("ins", "20")]


def test_profiles_are_in_order_with_the_worst_findings_first(page: Element) -> None:
    profiles = [each for each in page.one("main").children if isinstance(each, Element) and each.tag == "section"]
    assert [each.one("h2").words for each in profiles] == ["v1", "v1_unstable (for information only)"]
    rank = ["breaking", "risky", "safe"]
    for profile in profiles:
        groups = [[article.attributes["class"] for article in each.all("article")] for each in profile.all("section")]
        assert [rank.index(each[0]) for each in groups] == sorted(rank.index(each[0]) for each in groups)
        assert all(sorted(each, key=rank.index) == each for each in groups)


def test_the_header_has_the_verdict_the_version_bump_and_the_counts(page: Element) -> None:
    first = next(page.one("body").all("header"))
    assert first.one("h1").words == f"Schema: {large().base} → head (1.1.0)"
    assert "The stable profile has breaking changes. Recommended version bump: major." in first.words
    rows = [[cell.words for cell in row.all("th", "td")] for row in first.all("tr")]
    assert rows[0] == ["Profile", "breaking", "risky", "safe", "docs"]
    for name, *counts in rows[1:]:
        found = [each for each in large().findings if each.profile == name]
        expected = [sum(each.worst.word == verdict for each in found) for verdict in rows[0][1:4]]
        assert list(map(int, counts)) == [*expected, large().docs_only[name]]


def test_ids_are_unique_and_every_link_leads_to_one(page: Element) -> None:
    ids = [each.attributes["id"] for each in page.all() if "id" in each.attributes]
    links = [each.attributes["href"] for each in page.all("a")]
    assert len(set(ids)) == len(ids)
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert {each.attributes["id"] for each in page.all("article")} <= {link.removeprefix("#") for link in links}


def test_nothing_is_fetched_and_no_other_script_may_run(page: Element) -> None:
    assert not [each.tag for each in page.all("link", "img", "iframe", "object", "base")]
    assert not [each for each in page.all() if {"src", "srcset", "style", "action"} & each.attributes.keys()]
    assert not re.search(r"url\(|@import|https?:", html(large()))
    policy = next(each.attributes["content"] for each in page.all("meta") if "http-equiv" in each.attributes)
    digest = base64.b64encode(hashlib.sha256(page.one("script").text.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_every_filter_has_a_label_and_a_named_group(page: Element) -> None:
    assert page.one("form").attributes["aria-label"]
    groups = {each.one("legend").words: [label.words for label in each.all("label")] for each in page.all("fieldset")}
    assert groups == {
        "Verdict": ["breaking", "risky", "safe"],
        "For": ["agents", "clients"],
        "Whose code": ["builds it", "reads it"],
    }
    labelled = [each for label in page.all("label") for each in label.all("input")]
    assert len(labelled) == len(list(page.all("input"))) == 7


def test_without_javascript_only_the_filters_are_hidden(page: Element) -> None:
    hidden = [each.tag for each in page.all() if "hidden" in each.attributes]
    assert hidden == ["form", "p"]


def test_the_headings_skip_no_level_and_the_page_has_its_landmarks(page: Element) -> None:
    levels = [int(each.tag[1]) for each in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("main")
    assert page.one("title").words


def evil(finding: Finding) -> Finding:
    """Return a finding in which every text from a schema or a file is an attack."""
    texts = {"subject": EVIL, "before": EVIL, "after": f"{EVIL} x", "place": EVIL, "accepted": EVIL, "old": EVIL}
    return replace(finding, **texts, symbols=(EVIL,), methods=(EVIL,), failures=(EVIL_FAILURE,))


def test_foreign_text_is_escaped(page: Element) -> None:
    user_code = UserCode(EVIL, 1, 1, (EVIL_FAILURE,))
    report = Report(EVIL, EVIL, (evil(large().findings[0]),), {"v1": 1}, ("v1",), (), user_code)
    attacked = page_of(report)
    known = {(each.tag, name) for each in page_of(failing(1, 1)).all() for name in ["", *each.attributes]}
    assert {(each.tag, name) for each in attacked.all() for name in ["", *each.attributes]} <= known
    assert attacked.one("script").text == page.one("script").text
    article = attacked.one("article")
    assert article.text.count(EVIL) == 10
    assert attacked.one("aside").text.count(EVIL) == 3
    assert attacked.one("title").text.count(EVIL) == attacked.one("h1").text.count(EVIL) == 2


def test_a_constant_of_the_schema_is_escaped() -> None:
    evil_constant: Schema = {**STRING, "const": EVIL}
    page = page_of(compare(side(around("request", holds(STRING))), side(around("request", holds(evil_constant))), []))
    assert any("alert(" in each.text for each in page.all("dd"))
    assert not [each for each in page.all("b") if "onclick" in each.attributes]


def test_if_nothing_changed_the_page_says_so_and_has_no_filters() -> None:
    page = page_of(NOTHING)
    assert "Nothing changed. Recommended version bump: none." in page.one("body").words
    assert list(page.all("form", "table", "article")) == []


def test_changed_descriptions_are_counted() -> None:
    page = page_of(replace(NOTHING, docs_only={"v1": 3}))
    assert "Only descriptions changed. Recommended version bump: patch." in page.one("body").words
    assert [each.words for each in page.all("td")] == ["0", "0", "0", "3"]
    assert list(page.all("form", "a")) == []


# User code


def test_a_failure_is_with_its_finding_and_unpredicted_ones_come_before_the_filters() -> None:
    report = failing(2, 3)
    page = page_of(report)
    findings = {each.fingerprint: each for each in report.findings}
    for article in page.all("article"):
        shown = [each.words for each in article.all("li") if "user/code" in each.text]
        expected = findings[article.attributes["id"]].failures
        assert shown == [f"{each.sentence}{each.source}" for each in expected]
        assert article.attributes["data-user"] == ("fails" if expected else "passes")
    unpredicted = page.one("aside")
    assert unpredicted.one("h2").text == UNPREDICTED
    assert [each.one("code").text for each in unpredicted.all("li")] == ["x = 1", "x = 2", "x = 3"]
    landmarks = [each.tag for each in page.one("body").children if isinstance(each, Element)]
    assert landmarks == ["header", "aside", "form", "main", "script"]
    assert "3 that no finding predicts." in page.one("body").words


def test_if_user_code_was_checked_there_is_a_filter_for_it() -> None:
    *_, last = page_of(failing(1, 0)).all("fieldset")
    assert (last.one("legend").words, [each.words for each in last.all("label")]) == ("User code", ["fails", "passes"])
    assert list(page_of(failing(1, 0)).all("aside")) == []


def test_if_nothing_changed_unpredicted_failures_are_still_shown() -> None:
    page = page_of(replace(NOTHING, user_code=failing(0, 1).user_code))
    assert "User code: 1 failure in 7 files, 1 that no finding predicts." in page.one("body").words
    assert page.one("aside").one("h2").text == UNPREDICTED
    assert list(page.all("form", "article")) == []
