"""Replaces several folders and files: all of them or none.

Everything is written next to its place first, so that the replacement itself only renames. A process that is killed
between two of the renames leaves the first ones replaced.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.files.folders import prepared_folder, read_files
from codegen.files.staging import staging


@dataclass(frozen=True)
class Replacement:
    """The new content of a file, or the new files of a folder.

    Attributes:
        path: the file or the folder.
        content: the bytes of the file, or the files by their paths in the folder.
        outside: see `replace_folder`.
    """

    path: Path
    content: bytes | dict[str, bytes]
    outside: Path | None = None

    @property
    def old(self) -> Replacement:
        """The replacement that restores the present content."""
        old = read_files(self.path) if isinstance(self.content, dict) else self.path.read_bytes()
        return replace(self, content=old)


def replace_all(replacements: Iterable[Replacement]) -> None:
    """Replace folders and files, in this order. If that fails, nothing is changed."""
    undo: list[Replacement] = []
    with ExitStack() as stack:
        steps = [(each.old, stack.enter_context(_prepared(each))) for each in replacements]
        try:
            for old, step in steps:
                undo.append(old)
                step()
        except BaseException:
            for old in reversed(undo):
                with _prepared(old) as step:
                    step()
            raise


@contextmanager
def _prepared(replacement: Replacement) -> Generator[Callable[[], object]]:
    path, content = replacement.path, replacement.content
    if isinstance(content, dict):
        with prepared_folder(path, content, outside=replacement.outside) as step:
            yield step
        return
    with staging(path, path) as temporary:
        new = temporary / path.name
        new.write_bytes(content)
        shutil.copymode(path, new)
        yield lambda: new.replace(path)
