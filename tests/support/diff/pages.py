"""Large reports, and HTML pages parsed strictly into a tree of elements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser

from codegen.__main__ import SCHEMA
from codegen.diff.render.html import html
from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, Snapshot
from codegen.diff.verdict.failures import Failure, UserCode
from codegen.diff.verdict.verdicts import Verdict
from codegen.regen import read_schema

_VOID = {"br", "hr", "img", "input", "link", "meta"}
Attributes = list[tuple[str, str | None]]


@cache
def large() -> Report:
    """Compare the real stable and unstable schemas, in both directions, for a report with all verdicts and flows."""
    stable, unstable = (_snapshot(name) for name in ("schema", "schema.unstable"))
    base = Side(
        "a/branch/with/a/name/that-is-as-long-as-those-of-branches-that-tools-make",
        "1.0.0",
        {"v1": unstable, "v1_unstable": stable},
    )
    return compare(base, Side("head", "1.1.0", {"v1": stable, "v1_unstable": unstable}), [])


def failing(predicted: int, unpredicted: int, message: str = 'Module has no attribute "X"') -> Report:
    """Return the large report with this many failures for each breaking finding, and unpredicted ones."""
    findings = tuple(
        replace(
            each, failures=_failures(each.fingerprint, predicted, message) if each.worst is Verdict.BREAKING else ()
        )
        for each in large().findings
    )
    others = _failures("unpredicted", unpredicted, message)
    count = sum(len(each.failures) for each in findings) + len(others)
    return replace(large(), findings=findings, user_code=UserCode("user/code", 7, count, others))


def _failures(name: str, count: int, message: str) -> tuple[Failure, ...]:
    return tuple(Failure(f"user/code/{name}.py", line, f"x = {line}", message) for line in range(1, count + 1))


def _snapshot(name: str) -> Snapshot:
    raw = json.loads((SCHEMA / "v1" / f"{name}.json").read_text("utf-8"))
    return Snapshot(f"v1/{name}.json", raw, read_schema(raw, "v1"))


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list["Element | str"])

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.children)

    @property
    def words(self) -> str:
        """The text with whitespace collapsed, as a browser shows it."""
        return " ".join(self.text.split())

    def all(self, *tags: str) -> Iterator[Element]:
        """Yield all descendants, or those with these tags, in order."""
        for each in self.children:
            if isinstance(each, Element):
                if not tags or each.tag in tags:
                    yield each
                yield from each.all(*tags)

    def one(self, tag: str) -> Element:
        (found,) = self.all(tag)
        return found


class _Parser(HTMLParser):
    """Builds the tree. An element that isn't closed, or is closed in the wrong order, is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        closed = self.open.pop()
        assert closed.tag == tag, f"</{tag}> closes <{closed.tag}> of line {self.getpos()[0]}"

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(page: str) -> Element:
    """Parse a page into a tree."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    (root,) = parser.open
    return root


def page_of(report: Report) -> Element:
    return parsed(html(report))
