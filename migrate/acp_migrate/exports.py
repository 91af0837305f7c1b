"""Which names files take from each other: what one imports from `acp`, another may import from it or replace."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Sequence
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
        provided: the names that a module imports from `acp`, and what they are there, such as `acp.schema.Plan`, and
            what it imports from another module that has it from there.
        starred: the modules from which others import everything.
        own: what a file has from `acp` in these ways, by the id of its module.
    """

    wanted: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    provided: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    starred: set[str] = field(default_factory=set[str])
    own: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])

    def of(self, module: str, name: str) -> str:
        """Return what a name of a module is in `acp`; "" if it isn't imported from there."""
        return self.provided.get(module, {}).get(name, "")

    def are_used_in(self, file: File) -> bool:
        """Return whether a file seems to take a name from a module that imports it from `acp`, by its text."""
        for module, provided in self.provided.items():
            if provided and file.mentions([module]) and file.mentions(provided):
                name = "|".join(map(re.escape, sorted(provided)))
                imported = rf"\s+import\s(\([^)]*|[^\n(]*)(\*|\b({name})\b)"
                use = rf"\b{re.escape(module)}({imported}|\.({name})\b|,\s*['\"]({name})['\"])"
                if re.search(use.encode(), file.content):
                    return True
        return False


def module_name(path: Path) -> str:
    """Return the last part of the name of a file's module."""
    return path.resolve().parent.name if path.stem == "__init__" else path.stem


def read_exports(files: Sequence[tuple[Path, cst.Module]]) -> Exports:
    """Find what files take from each other."""
    found = Exports()
    passed_on: list[tuple[dict[str, str], str, str | None, str]] = []
    same_name: dict[str, list[dict[str, str]]] = {}
    for path, module in files:
        own = found.own[id(module)] = {}
        same_name.setdefault(module_name(path), []).append(own)
        for node in simple_statements(module):
            if not isinstance(node, cst.ImportFrom):
                continue
            source = dotted(node.module)
            last = source.rpartition(".")[2] or path.resolve().parent.name
            if isinstance(node.names, cst.ImportStar):
                found.starred.add(last)
                passed_on.append((own, last, None, ""))
                continue
            for each in node.names:
                name, local = each.evaluated_name, each.evaluated_alias or each.evaluated_name
                if source.partition(".")[0] == "acp" and "experimental" not in source and not node.relative:
                    own[local] = f"{source}.{name}"
                else:
                    found.wanted.setdefault(last, set()).add(name)
                    passed_on.append((own, last, name, local))
    for _ in range(3):  # through how many modules names are followed
        found.provided = {name: dict(ChainMap(*given)) for name, given in same_name.items()}
        for own, last, taken, local in passed_on:
            provided = found.provided.get(last, {})
            if taken is None:
                own |= {each: path for each, path in provided.items() if each not in own}
            elif taken in provided:
                own.setdefault(local, provided[taken])
    return found
