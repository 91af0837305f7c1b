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
# What is not prose: the head of a page, code, comments, headings, imports and tags.
_MARKUP = re.compile(
    r"\A---\n.*?\n---\n|^ *```.*?^ *```|<!--.*?-->|\{/\*.*?\*/\}|^(?:#|import ).*?$|<[^<>]*>", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) ")
# Blocks end at an empty line, and before an item, a row of a table or a quotation.
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+] |\d+\. |\||>))")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*_\"(\[])")


def find_sentences(text: str) -> Iterator[str]:
    """Yield the sentences with a keyword, without markup.

    If a sentence with a keyword introduces a list, each sentence of its items is yielded behind the introduction.
    """
    introduction = ""
    for block in _BLOCK.split(_LINK.sub(r"\1", _MARKUP.sub("\n\n", text))):
        is_item = _ITEM.match(block) is not None
        introduction = introduction if is_item or not block.strip() else ""
        for sentence in _SENTENCE.split(" ".join(re.sub(r"[`*|>]", " ", _ITEM.sub("", block, count=1)).split())):
            if introduction or _KEYWORD.search(sentence):
                yield f"{introduction} {sentence}".strip()
            if not is_item and sentence.endswith(":") and _KEYWORD.search(sentence):
                introduction = sentence


def compare(old: str, new: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each page that has changed, with its new sentences, and those that are gone."""
    old_pages, new_pages = _read_pages(old), _read_pages(new)
    old_counts, new_counts = _count_pages(old_pages), _count_pages(new_pages)
    for page in sorted(old_pages.keys() | new_pages.keys()):
        before, after = old_pages.get(page, {}), new_pages.get(page, {})
        added = [after[words] for words in after if words not in before and new_counts[words] > old_counts[words]]
        gone = [before[words] for words in before if words not in after and old_counts[words] > new_counts[words]]
        if added or gone:
            yield page, added, gone


def _read_pages(source: str) -> dict[str, dict[str, str]]:
    """Return the sentences of each page, by their words in lower case."""
    folder, _, tree = source.partition("@")
    pages: dict[str, dict[str, str]] = {}
    for name, text in _read_archive(folder, tree) if tree else _read_folder(Path(folder)):
        prose = "\n\n".join(_find_descriptions(text)) if name.endswith(".json") else text
        pages[name] = {" ".join(re.findall(r"\w+", text)).casefold(): text for text in find_sentences(prose)}
    return pages


def _count_pages(pages: dict[str, dict[str, str]]) -> Counter[str]:
    """Return on how many pages each sentence is, by its words."""
    return Counter(words for sentences in pages.values() for words in sentences)


def _read_folder(folder: Path) -> Iterator[tuple[str, str]]:
    for path in folder.rglob("*"):
        if path.suffix in _SUFFIXES:
            yield path.relative_to(folder).as_posix(), path.read_text("utf-8")


def _read_archive(folder: str, tree: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a tree of a clone."""
    git = subprocess.run(["git", "-C", folder, "archive", tree], capture_output=True, check=False)
    if git.returncode:
        sys.exit(f"git archive {tree} fails in {folder}: {git.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(git.stdout)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and member.name.endswith(_SUFFIXES):
                yield member.name, file.read().decode()


def _find_descriptions(schema: str) -> list[str]:
    descriptions: list[str] = []

    def add_description(value: dict[str, Any]) -> None:
        if isinstance(description := value.get("description"), str):
            descriptions.append(description)

    json.loads(schema, object_hook=add_description)
    return descriptions


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for page, added, gone in compare(*sys.argv[1:]):
        print(page, *(f"  + {sentence}" for sentence in added), *(f"  - {sentence}" for sentence in gone), sep="\n")
