"""Diffs: version 1 has the old and the new text of a file, version 2 has the changes of files and a patch of Git."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import TypeAlias

from acp_kit.versions.json_objects import Json, without

# A kind of `SequenceMatcher`, the range of old lines and the range of new lines.
_Change: TypeAlias = tuple[str, int, int, int, int]

# The unchanged lines around a change.
_CONTEXT = 3
# How many pairs of lines are compared, which takes at most a tenth of a second. If there are more, the lines from the
# first to the last change are replaced as a whole.
_MAX_PAIRS = 1_000_000

# Git quotes paths with these characters.
_QUOTED = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def diff_to_v2(old: Json, path: str) -> Json:
    """Return the change of a file, with a patch unless its text is the same or empty.

    Args:
        old: the diff of version 1.
        path: its path, absolute.
    """
    before: str | None = old.get("oldText")
    change = {"operation": "add" if before is None else "modify", "path": path, "fileType": "text"}
    diff = without(old, "path", "oldText", "newText") | {"changes": [change]}
    if (before or "") != old["newText"]:
        diff["patch"] = {"format": "git_patch", "text": git_patch(path, before, old["newText"])}
    return diff


def git_patch(path: str, before: str | None, after: str) -> str:
    """Return a patch in the format of Git. `before` is None for a new file."""
    name = _quote(path)
    # A tab after a name with spaces, as Git writes it, tells `patch` where the name ends.
    end = "\t\n" if " " in name and name == path else "\n"
    head = f"diff --git {name} {name}\n"
    head += "new file mode 100644\n--- /dev/null\n" if before is None else f"--- {name}{end}"
    return f"{head}+++ {name}{end}" + "".join(_make_hunks(_split_lines(before or ""), _split_lines(after)))


def _quote(path: str) -> str:
    quoted = _QUOTED.sub(_escape, path)
    return path if quoted == path else f'"{quoted}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _ESCAPES.get(character) or f"\\{ord(character):03o}"


def _split_lines(text: str) -> list[str]:
    """Split a text at line feeds only: `splitlines` also splits at form feeds and others."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _make_hunks(old: list[str], new: list[str]) -> Iterable[str]:
    """Yield the hunks of a patch. The lines before the first and after the last change aren't compared with others."""
    same_before = _count_common(old, new)
    same_after = _count_common(old[same_before:][::-1], new[same_before:][::-1])
    first, last = max(same_before - _CONTEXT, 0), max(same_after - _CONTEXT, 0)
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    for changes in _group_changes(old, new, same_before - first, same_after - last):
        lines: list[str] = []
        for kind, old_start, old_end, new_start, new_end in changes:
            if kind == "equal":
                lines += [f" {line}" for line in old[old_start:old_end]]
            else:
                lines += [f"-{line}" for line in old[old_start:old_end]]
                lines += [f"+{line}" for line in new[new_start:new_end]]
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = changes[0], changes[-1]
        old_range = _format_range(first + old_start, old_end - old_start)
        new_range = _format_range(first + new_start, new_end - new_start)
        yield f"@@ -{old_range} +{new_range} @@\n"
        yield from (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _count_common(old: list[str], new: list[str]) -> int:
    """Return with how many equal lines both begin."""
    return next((index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _group_changes(old: list[str], new: list[str], before: int, after: int) -> Iterable[list[_Change]]:
    """Return the changes of each hunk, given how many lines are the same at both ends."""
    if len(old) * len(new) <= _MAX_PAIRS:
        return SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
    old_end, new_end = len(old) - after, len(new) - after
    replaced = "replace", before, old_end, before, new_end
    return [[("equal", 0, before, 0, before), replaced, ("equal", old_end, len(old), new_end, len(new))]]


def _format_range(start: int, length: int) -> str:
    return f"{start + 1 if length else start},{length}"
