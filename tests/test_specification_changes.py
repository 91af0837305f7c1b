"""The command that finds the sentences with MUST, SHOULD or MAY that are new or gone between two sets of pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.git import git
from tools.specification.changes import compare

OLD = {
    "v1/a.mdx": """---
title: It MUST be no sentence
---
# A
The Agent **MUST** answer. It may
wait. A Client SHOULD ask
the [user](./user)!

Clients MUST:

- ask `first`
- wait

```json
{"x": "This MAY be code."}
```
""",
    "v1/b.mdx": "Agents MAY stop. <Note>Clients MUST stop.</Note>",
    "schema.json": json.dumps({"a": {"description": "It MUST be\nabsolute."}, "b": [{"description": "Any text."}]}),
    "other.txt": "It MUST NOT be read.",
}
NEW = {
    "v1/a.mdx": """---
title: It MUST be another title
---
The agent MUST
answer. A Client SHOULD ask the [user](/people#user)!

Clients MUST:
1. ask *first*
2. wait for an answer

<!-- It MAY be a comment. -->
""",
    "v1/c.mdx": "| Clients MUST stop. | Agents MAY stop! |\n\n> New pages SHOULD be read.",
    "v1/draft/c.mdx": "Clients MUST stop.",
    "schema.json": json.dumps({"b": [{"description": "Any text. It MAY be empty."}]}),
}
CHANGES = [
    ("schema.json", ["It MAY be empty."], ["It MUST be absolute."]),
    ("v1/a.mdx", ["Clients MUST: wait for an answer"], ["Clients MUST: wait"]),
    ("v1/c.mdx", ["Clients MUST stop.", "New pages SHOULD be read."], []),
    ("v1/draft/c.mdx", ["Clients MUST stop."], []),
]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def test_new_and_gone_sentences_are_found_and_moved_ones_are_not(tmp_path: Path) -> None:
    write(tmp_path / "old", OLD)
    write(tmp_path / "new", NEW)
    assert list(compare(str(tmp_path / "old"), str(tmp_path / "new"))) == CHANGES
    assert list(compare(str(tmp_path / "new"), str(tmp_path / "new"))) == []


def test_a_version_may_be_a_tree_of_a_clone(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    for files in (OLD, NEW):
        write(tmp_path / "docs", files)
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "--message", "x")
        git(tmp_path, "rm", "-r", "--quiet", "docs")
    assert list(compare(f"{tmp_path}@HEAD~1:docs", f"{tmp_path}@HEAD:docs")) == CHANGES
    with pytest.raises(SystemExit, match="git archive gone:docs fails in "):
        list(compare(f"{tmp_path}@gone:docs", str(tmp_path)))
