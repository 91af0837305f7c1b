"""Which names files take from each other: what one imports from `acp`, another may import from it or replace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst
from libcst import matchers as m

from acp_kit.migrate.project import dotted


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


def module_name(path: Path) -> str:
    """Return the last part of the name of a file's module."""
    return path.resolve().parent.name if path.stem == "__init__" else path.stem


def read_exports(files: Iterable[tuple[Path, cst.Module]]) -> Exports:
    """Find what files take from each other."""
    found = Exports()
    for path, module in files:
        for node in m.findall(module, m.ImportFrom()):
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
