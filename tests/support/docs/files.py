"""The Python files of a page, and how they change from block to block."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.support.docs.blocks import Block, blocks, pages_before

UNNAMED = "example.py"


@dataclass(frozen=True)
class Step:
    """A state of the files of a page, after one of its blocks."""

    block: Block
    files: dict[str, str]
    """The text of each file by its name."""
    current: str | None
    """The file that the last Python block belongs to."""
    output: str | None
    """What the page prints below the block: the output of its file or its commands."""


def steps(page: Path) -> list[Step]:
    """Return the states of a page's files, one for each block of Python or shell.

    A Python block whose first line is `# <name>.py` begins that file, anew if it exists. Others continue the last one.
    """
    page_blocks = blocks(page)
    files = files_before(page)
    current: str | None = None
    result: list[Step] = []
    for index, block in enumerate(page_blocks):
        if block.language == "python" and not block.not_run:
            if block.file_name:
                current = block.file_name
                files = files | {current: block.text}
            else:
                current = current or UNNAMED
                before = files.get(current, "")
                files = files | {current: f"{before}\n\n{block.text}" if before else block.text}
        if block.language in {"python", "sh"}:
            after = page_blocks[index + 1] if index + 1 < len(page_blocks) else None
            printed = after.text if after and after.language == "text" and after.follows == index else None
            result.append(Step(block, files, current, printed))
    return result


def files_before(page: Path) -> dict[str, str]:
    """Return the files that the reader has from other pages."""
    return {name: text for other in pages_before(page) for name, text in steps(other)[-1].files.items()}


def versions(page: Path) -> list[dict[str, str]]:
    """Return the files of a page just before a file begins anew, and at the end."""
    result: list[dict[str, str]] = []
    last: dict[str, str] = {}
    for step in steps(page):
        if any(not step.files[name].startswith(text) for name, text in last.items()):
            result.append(last)
        last = step.files
    return [*result, last] if last else result


def with_unique_modules(files: dict[str, str], prefix: str) -> dict[str, str]:
    """Return the files with `prefix` before their names, and before these names in imports."""
    modules = "|".join(Path(file).stem for file in files)
    imports = re.compile(rf"^(\s*(?:from|import) )({modules})\b(?!\.)", re.MULTILINE)
    return {f"{prefix}{name}": imports.sub(rf"\1{prefix}\2", text) for name, text in files.items()}
