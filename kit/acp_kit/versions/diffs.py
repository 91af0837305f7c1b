"""Diffs: version 1 has the old and the new text of a file, version 2 has the changes of files and a patch of Git."""

from __future__ import annotations

import re
from difflib import unified_diff

from acp_kit.versions.json_objects import Json, without

# The maximum length of both texts together, in characters. Comparing takes time that grows faster than the texts.
_MAX_COMPARED = 1_000_000

# Git quotes paths with these characters.
_QUOTED = re.compile(r'[\x00-\x1f\x7f"\\]')


def diff_to_v2(old: Json, path: str) -> Json:
    """Return the change of a file, with a patch unless its texts are too long.

    Args:
        old: the diff of version 1.
        path: its path, absolute.
    """
    before: str | None = old.get("oldText")
    after: str = old["newText"]
    change = {"operation": "add" if before is None else "modify", "path": path, "fileType": "text"}
    diff = without(old, "path", "oldText", "newText") | {"changes": [change]}
    if len(before or "") + len(after) <= _MAX_COMPARED and not _QUOTED.search(path):
        diff["patch"] = {"format": "git_patch", "text": git_patch(path, before, after)}
    return diff


def git_patch(path: str, before: str | None, after: str) -> str:
    """Return a patch as `git diff` writes it. `before` is None for a new file."""
    head = f"diff --git {path} {path}\n" + ("new file mode 100644\n" if before is None else "")
    old_name = "/dev/null" if before is None else path
    # A tab after a name with spaces, as Git writes it, tells `patch` where the name ends.
    tab = "\t" if " " in path else ""
    lines = unified_diff(_lines(before or ""), _lines(after), old_name + tab * (before is not None), path + tab)
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Split a text at line feeds only: `splitlines` also splits at form feeds and others."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
