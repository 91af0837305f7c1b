"""What people write, and what `acp_migrate` makes of it: the pairs in `cases/`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_migrate.files import File
from acp_migrate.migration import migrate
from acp_migrate.names import load

# The group shares the import of libcst.
pytestmark = pytest.mark.xdist_group("libcst")

CASES = Path(__file__).parent / "cases"


def cases() -> Iterator[object]:
    for file in sorted(CASES.glob("*.txt")):
        for case in file.read_text("utf-8").split("\n== "):
            title, _, body = case.removeprefix("== ").partition("\n")
            before, _, after = body.partition("\n--\n")
            yield pytest.param(f"{before.strip()}\n", f"{after.strip()}\n", id=title)


def rewritten(text: str) -> list[str]:
    """Return the new text, or nothing if the program doesn't use the SDK."""
    return [each.content.decode() for each in migrate([File(Path("program.py"), text.encode())], load())]


@pytest.mark.parametrize(("before", "after"), [*cases()])
def test_a_program_is_rewritten_once(before: str, after: str) -> None:
    ast.parse(after)
    assert rewritten(before) == [after]
    assert rewritten(after) in ([], [after])
