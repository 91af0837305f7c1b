"""The statements of the specification, in our own words, each with what proves it.

`statements.toml` has a table for each of upstream's pages, named by its path below `docs/protocol/` (or `docs/`, for
`rfds/`), and an entry for each statement:

    who = "agent"          whose duty it is: "agent", "client" or "both"
    keyword = "MUST"       MUST, SHOULD or MAY; without it, upstream states a fact
    text = "..."           what it says
    done = [...]           every connection does it: the tests that prove it, as pytest names them
    acp_kit = [...]        acp_kit does it, for programs that use that part of it: the tests
    yours = "..."          the application has to do it: the heading of the page below docs/ that shows how
    not_done = "..."       nothing does it on purpose: the reason
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.pages import anchors
from tools.paths import ROOT

FILE = Path(__file__).with_name("statements.toml")
WHO = ("agent", "client", "both")
KEYWORDS = ("MUST", "SHOULD", "MAY", "")
_SKIPPED = re.compile(r"pytest\.(?:mark\.)?(?:(?:skip|xfail)\b|skipif\((?:True|1)\b)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


@dataclass(frozen=True)
class Statement:
    """A statement of a page, with its proof: tests, a heading in docs/, or the reason why there is none."""

    page: str
    who: str
    text: str
    keyword: str = ""
    done: tuple[str, ...] = ()
    acp_kit: tuple[str, ...] = ()
    yours: str = ""
    not_done: str = ""

    @property
    def verdicts(self) -> list[str]:
        """The verdicts that have a proof. A valid statement has exactly one."""
        return [name for name in ("done", "acp_kit", "yours", "not_done") if getattr(self, name)]


def read(file: Path = FILE) -> list[Statement]:
    """Read the statements of all pages, in the order of the file."""
    versions = tomllib.loads(file.read_text("utf-8"))
    return [
        Statement(page=f"{version}/{page}", **entry)
        for version, pages in versions.items()
        for page, entries in pages.items()
        for entry in entries
    ]


def problems(statement: Statement) -> Iterator[str]:
    """Yield what is wrong with a statement: a proof that is missing, or doesn't exist."""
    if statement.who not in WHO or statement.keyword not in KEYWORDS:
        yield f"'{statement.who} {statement.keyword}' is not one of {', '.join(WHO)} with one of MUST, SHOULD, MAY"
    if len(statement.verdicts) != 1:
        yield "it needs one of done, acp_kit, yours and not_done"
    for test in (*statement.done, *statement.acp_kit):
        file, _, name = test.partition("::")
        if name not in running_tests(ROOT / file):
            yield f"there is no test {test}, or it is always skipped"
    if statement.yours:
        file, _, anchor = statement.yours.partition("#")
        page = ROOT / "docs" / file
        if not page.is_file() or anchor not in anchors(page):
            yield f"there is no heading docs/{statement.yours}"


@cache
def running_tests(file: Path) -> frozenset[str]:
    """Return the names of a file's tests, without those that are always skipped."""
    if not file.is_file() or not file.name.startswith("test_"):
        return frozenset()
    module = ast.parse(file.read_text("utf-8"))
    if any(_SKIPPED.search(ast.unparse(node)) for node in module.body if not isinstance(node, _DEFINITIONS)):
        return frozenset()
    tests = [node for node in module.body if isinstance(node, _FUNCTIONS) and node.name.startswith("test_")]
    return frozenset(test.name for test in tests if not _is_skipped(test))


def _is_skipped(test: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(_SKIPPED.match(ast.unparse(node)) for node in [*test.decorator_list, *test.body])
