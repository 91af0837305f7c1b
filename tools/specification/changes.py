"""Prints the sentences with MUST, SHOULD or MAY that are new or gone between two versions of the specification.

`python -m tools.specification.changes OLD NEW`: each is a folder with pages or schemas, or a `<clone>@<tree>` such as
`agent-client-protocol@v1.7.0:docs` or `.@HEAD:schema`. A sentence that moved to another page is neither new nor gone.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SUFFIXES = (".json", ".md", ".mdx")
_KEYWORD = re.compile(r"\b(?:MUST|SHALL|SHOULD|MAY|REQUIRED|RECOMMENDED|OPTIONAL)\b")
# The head of a page, code, comments, headings, imports and tags.
_NO_PROSE = re.compile(
    r"\A---\n.*?\n---\n|^ *```.*?^ *```|<!--.*?-->|\{/\*.*?\*/\}|^(?:#|import ).*?$|<[^<>]*>", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) ")
# Blocks end at an empty line, and before an item, a row of a table or a quotation.
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+] |\d+\. |\||>))")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*_\"(\[])")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences with a keyword, without markup; an item of a list behind the sentence that introduces it."""
    introduction = ""
    for block in _BLOCK.split(_LINK.sub(r"\1", _NO_PROSE.sub("\n\n", text))):
        is_item = _ITEM.match(block) is not None
        introduction = introduction if is_item or not block.strip() else ""
        for sentence in _SENTENCE.split(" ".join(re.sub(r"[`*|>]", " ", _ITEM.sub("", block, count=1)).split())):
            if introduction or _KEYWORD.search(sentence):
                yield f"{introduction} {sentence}".strip()
            if not is_item and sentence.endswith(":") and _KEYWORD.search(sentence):
                introduction = sentence


def changes(old: str, new: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each page that has changed, with its new sentences, and those that are gone."""
    before, after = _sentences_by_page(old), _sentences_by_page(new)
    counts_before, counts_after = (Counter(key for page in pages.values() for key in page) for pages in (before, after))
    for page in sorted(before.keys() | after.keys()):
        had, has = before.get(page, {}), after.get(page, {})
        added = [has[key] for key in has if key not in had and counts_after[key] > counts_before[key]]
        gone = [had[key] for key in had if key not in has and counts_before[key] > counts_after[key]]
        if added or gone:
            yield page, added, gone


def _sentences_by_page(source: str) -> dict[str, dict[str, str]]:
    """Return the sentences of each page by their words alone."""
    pages: dict[str, dict[str, str]] = {}
    for name, text in _files(source):
        prose = "\n\n".join(_descriptions(text)) if name.endswith(".json") else text
        pages[name] = {" ".join(re.findall(r"\w+", sentence)).casefold(): sentence for sentence in sentences(prose)}
    return pages


def _files(source: str) -> Iterator[tuple[str, str]]:
    folder, _, tree = source.partition("@")
    if not tree:
        for path in Path(folder).rglob("*"):
            if path.suffix in _SUFFIXES:
                yield path.relative_to(folder).as_posix(), path.read_text("utf-8")
        return
    git = subprocess.run(["git", "-C", folder, "archive", tree], capture_output=True, check=False)
    if git.returncode:
        sys.exit(f"git archive {tree} fails in {folder}: {git.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(git.stdout)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and member.name.endswith(_SUFFIXES):
                yield member.name, file.read().decode()


def _descriptions(schema: str) -> list[str]:
    found: list[str] = []

    def look(value: dict[str, Any]) -> None:
        if isinstance(text := value.get("description"), str):
            found.append(text)

    json.loads(schema, object_hook=look)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for page, added, gone in changes(*sys.argv[1:]):
        print(page, *(f"  + {sentence}" for sentence in added), *(f"  - {sentence}" for sentence in gone), sep="\n")
