"""The state of rewriting one file: what was changed, what must be imported, and what is left to a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from acp_migrate.names import Names, Target
from acp_migrate.project import Project
from acp_migrate.resolving import Resolver

MARK = "# acp-migrate: "


@dataclass
class Context:
    """What the rules share while a file is rewritten.

    Attributes:
        names: what each name of `acp` is here.
        project: the handler classes of all files.
        resolver: what the names in this file mean.
        taken: names that the file uses for something else than what it imports from `acp`.
        imported: what the file imports from elsewhere, by local name, such as `typing.Any`.
        exported: the names that other files import from this one, or that its `__all__` lists.
        uses_acp: whether the file imports `acp` or something from it.
        aliases: the local names of what the file imports from `acp` under another name, by the old name.
        wanted: the imports that the new code needs: local names and what they are.
        made: the local names that new code needs.
        changes: how many places were changed.
        todos: for each enclosing statement, what is left to do there.
        inserted: for each enclosing statement, the statements to insert before it.
    """

    names: Names
    project: Project
    resolver: Resolver
    taken: set[str]
    imported: dict[str, str]
    aliases: dict[str, str]
    uses_acp: bool = False
    exported: set[str] = field(default_factory=set[str])
    wanted: dict[str, Target] = field(default_factory=dict[str, Target])
    made: set[str] = field(default_factory=set[str])
    changes: int = 0
    todos: list[list[str]] = field(default_factory=list[Any])
    inserted: list[list[cst.BaseStatement]] = field(default_factory=list[Any])

    def use(self, name: str, module: str = "", *, made: bool = True) -> str:
        """Return the local name of something here, and see to it that it is imported.

        Args:
            name: its name.
            module: where it is; by default the profile.
            made: whether the code that needs it is new, and not in place of a name of `acp`.
        """
        if self.imported.get(name) == f"{module}.{name}":
            return name
        target = Target(module or self.names.profile, name)
        local = name
        if name in self.taken:
            local = f"Acp{name}" if name[0].isupper() else f"acp_{name}"
        self.wanted[local] = target
        if made:
            self.made.add(local)
        return local

    def name(self, name: str, module: str = "") -> cst.Name:
        """Return the expression for something here, and see to it that it is imported."""
        return cst.Name(self.use(name, module))

    def todo(self, text: str) -> None:
        """Leave something to a person, in a comment above the statement that is being rewritten."""
        if text and self.todos and text not in self.todos[-1]:
            self.todos[-1].append(text)
