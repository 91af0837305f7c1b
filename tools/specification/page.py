"""Renders the statements as docs/reference/specification.md."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

from tools.paths import ROOT
from tools.specification.statements import Statement

PAGE = ROOT / "docs" / "reference" / "specification.md"
_VERDICTS = {"done": "done", "acp_kit": "kit", "yours": "yours", "not_done": "not done"}
_VERSIONS = {"v1": "version 1", "v2": "version 2 (draft)", "rfds": "proposals (RFDs)"}
_HEAD = """\
<!-- Written by `make specification`. Do not edit. -->
# What the specification demands

What the [Agent Client Protocol](https://agentclientprotocol.com) demands of agents, clients or both, and who does it:

- **done**: every connection. The link is to the test.
- **kit**: [acp_kit](../guides/kit.md), if you use that part of it. The link is to the test.
- **yours**: your agent or client. The link is to the page that shows how.
- **not done**: left out on purpose, with the reason.

The headings are the names of upstream's pages. Statements without MUST, SHOULD or MAY are facts.

"""


def render_page(statements: list[Statement]) -> str:
    """Return the page with these statements."""
    parts = [_HEAD, *_counts(statements)]
    for name, of_page in groupby(statements, lambda statement: statement.page):
        parts += [f"\n## {name}\n\n", "| who | statement | |\n| --- | --- | --- |\n", *map(_row, of_page)]
    return "".join(parts)


def _counts(statements: list[Statement]) -> list[str]:
    counts = Counter((_version(statement), statement.verdicts[0]) for statement in statements)
    rows = [f"| | {' | '.join(_VERDICTS.values())} |\n", "| --- " * 5 + "|\n"]
    for version, name in _VERSIONS.items():
        rows.append(f"| {name} | {' | '.join(str(counts[version, verdict]) for verdict in _VERDICTS)} |\n")
    return rows


def _version(statement: Statement) -> str:
    return statement.page.split("/")[0]


def _row(statement: Statement) -> str:
    who = f"{statement.who} {statement.keyword}".strip()
    (verdict,) = statement.verdicts
    return f"| {who} | {statement.text} | **{_VERDICTS[verdict]}**{_proof(statement)} |\n"


def _proof(statement: Statement) -> str:
    if statement.yours:
        return f": [{_title(statement.yours)}](../{statement.yours})"
    if statement.not_done:
        return f": {statement.not_done}"
    files = dict.fromkeys(test.split("::")[0] for test in (*statement.done, *statement.acp_kit))
    return ": " + ", ".join(f"[`{Path(file).parent.name}/{Path(file).stem}`](../../{file})" for file in files)


def _title(link: str) -> str:
    """Return the title of the page that a link leads to."""
    return (ROOT / "docs" / link.partition("#")[0]).read_text("utf-8").partition("\n")[0].removeprefix("# ")
