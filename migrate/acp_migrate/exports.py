"""Which names files take from each other: what one imports from `acp`, another may import from it or replace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from acp_migrate.files import File
from acp_migrate.syntax import dotted, simple_statements


@dataclass
class Exports:
    """What files take from each other, by the last part of a module's name.

    Attributes:
        wanted: the names that others import from a module.
        provided: the names that a module imports from `acp`, and what they are there, such as `acp.schema.Plan`.
    """

    wanted: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    provided: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def of(self, module: str, name: str) -> str:
        """Return what a name of a module is in `acp`; "" if it isn't imported from there."""
        return self.provided.get(module, {}).get(name, "")

    def are_used_in(self, file: File, is_renamed: Callable[[str], bool]) -> bool:
        """Return whether a file seems to take a name from a module that imports it from `acp`, by its text.

        Args:
            file: the file.
            is_renamed: whether a path of `acp` has another name here; others need no care.
        """
        for module, provided in self.provided.items():
            renamed = {name for name, path in provided.items() if is_renamed(path)}
            if renamed and file.mentions([module]) and file.mentions(renamed):
                name = "|".join(map(re.escape, sorted(renamed)))
                imported = rf"\s+import\s(\([^)]*|[^\n(]*)\b({name})\b"
                use = rf"\b{re.escape(module)}({imported}|\.({name})\b|,\s*['\"]({name})['\"])"
                if re.search(use.encode(), file.content):
                    return True
        return False


def module_name(path: Path) -> str:
    """Return the last part of the name of a file's module."""
    return path.resolve().parent.name if path.stem == "__init__" else path.stem


def read_exports(files: Iterable[tuple[Path, cst.Module]]) -> Exports:
    """Find what files take from each other."""
    found = Exports()
    for path, module in files:
        for node in simple_statements(module):
            if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
                continue
            source = dotted(node.module)
            for each in node.names:
                name, local = each.evaluated_name, each.evaluated_alias or each.evaluated_name
                if source.partition(".")[0] == "acp" and not node.relative:
                    found.provided.setdefault(module_name(path), {})[local] = f"{source}.{name}"
                else:
                    last = source.rpartition(".")[2] or path.resolve().parent.name
                    found.wanted.setdefault(last, set()).add(name)
    return found
