"""What upstream's changelog says about a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diff.render.markdown import markdown
from codegen.diff.report import Report, compare
from codegen.diff.upstream import add_changelog
from codegen.errors import SourceError
from tests.support.codegen.build import STRING, model
from tests.support.diff.cases import around, holds
from tests.support.diff.sides import side

CHANGES = """\
# Changelog

## [1.2.0](https://example.com) (2026-02-01)

* **schema:** Require a folder in newSession ([#9](https://example.com/9))
* Add session/fork ([#8](https://example.com/8))

## [1.1.0](https://example.com) (2026-01-01)

* Add session/new
"""


def report() -> Report:
    return compare(side(around("request", model())), side(around("request", holds(STRING))))


@pytest.mark.parametrize(
    ("base", "expected"),
    [("1.1.0", ["**schema:** Require a folder in newSession"]), ("1.2.0", [])],
)
def test_a_finding_has_the_items_of_newer_releases_that_name_it(base: str, expected: list[str], tmp_path: Path) -> None:
    file = tmp_path / "CHANGELOG.md"
    file.write_text(CHANGES, "utf-8")
    found = add_changelog(report(), str(file), base)
    assert [list(each.upstream) for each in found.findings] == [expected]
    assert ("upstream: `**schema:** Require a folder in newSession`" in markdown(found)) is bool(expected)


def test_a_changelog_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gone\.md can't be read"):
        add_changelog(report(), str(tmp_path / "gone.md"), "")
