"""Marks what still uses `acp` after everything else was rewritten, so that nothing is left without a comment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, QualifiedNameSource, ScopeProvider

from acp_migrate.imports import EXPERIMENTAL
from acp_migrate.marking import HOLDERS, is_marked, marked
from acp_migrate.names import Gone, Names, Target
from acp_migrate.resolving import is_experimental
from acp_migrate.syntax import dotted, simple_statements


def mark_leftovers(module: cst.Module, names: Names) -> cst.Module:
    """Return a rewritten file with a comment at each place that uses the module `acp` or one of its modules.

    A name that is imported from `acp` is marked at its import.
    """
    modules = {local: path for local, path in _modules(module).items() if names.find(path.rpartition(".")[2]) is None}
    if not modules:
        return module
    return MetadataWrapper(module, unsafe_skip_copy=True).visit(_Leftovers(names, modules))


def missing(names: Names, path: str) -> str:
    """Return the sentence that says what a path of `acp` is here, such as `acp.schema.Plan`."""
    if is_experimental(path):
        return EXPERIMENTAL
    steps = path.split(".")
    for end in range(len(steps), 1, -1):
        old, found = steps[end - 1], names.find(steps[end - 1])
        if isinstance(found, Gone):
            return f"`{old}` has no counterpart: {found.why}."
        if isinstance(found, Target):
            note = f": {found.note}" if found.note else ""
            return f"Replace `{old}` by `{found.module}.{found.name}`{note}."
    if len(steps) > 1 and not steps[-1].islower():
        return f"`{path}` is not in `{names.profile}`."
    return f"This uses `{path}`, which is not here."


def _modules(module: cst.Module) -> dict[str, str]:
    """Return the local names of `acp` and its modules, and what they are."""
    found: dict[str, str] = {}
    for node in simple_statements(module):
        if isinstance(node, cst.Import):
            for each in node.names:
                name = each.evaluated_name
                first = name.partition(".")[0]
                found[each.evaluated_alias or first] = name if each.evaluated_alias else first
        elif isinstance(node, cst.ImportFrom) and not node.relative and not isinstance(node.names, cst.ImportStar):
            for each in node.names:
                found[each.evaluated_alias or each.evaluated_name] = f"{dotted(node.module)}.{each.evaluated_name}"
    return {local: path for local, path in found.items() if path.partition(".")[0] == "acp"}


class _Leftovers(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (ScopeProvider,)

    def __init__(self, names: Names, modules: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names
        self._modules = modules
        self._todos: list[list[str]] = []
        self._annotations = 0

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        path = dotted(node)
        if path:
            self._check(node, path)
        return not path

    def visit_Name(self, node: cst.Name) -> None:
        self._check(node, node.value)

    def _check(self, node: cst.CSTNode, written: str) -> None:
        root, dot, rest = written.partition(".")
        if root not in self._modules or not self._todos:
            return
        scope: Any = self.get_metadata(ScopeProvider, node, None)
        found = () if scope is None else scope.get_qualified_names_for(node)
        if any(each.source is QualifiedNameSource.IMPORT and each.name.partition(".")[0] == "acp" for each in found):
            self._todos[-1].append(missing(self._names, f"{self._modules[root]}{dot}{rest}"))

    def visit_Annotation(self, node: cst.Annotation) -> None:
        self._annotations += 1

    def leave_Annotation(self, original_node: cst.Annotation, updated_node: cst.Annotation) -> cst.Annotation:
        self._annotations -= 1
        return updated_node

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        if not self._annotations or not self._todos:
            return
        for root, rest in re.findall(r"(?<![\w.])(\w+)((?:\.\w+)+)", str(node.evaluated_value)):
            if root in self._modules:
                self._todos[-1].append(missing(self._names, f"{self._modules[root]}{rest}"))

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, HOLDERS):
            self._todos.append([])
        return super().on_visit(node)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        new = super().on_leave(original_node, updated_node)
        if isinstance(original_node, HOLDERS):
            todos = self._todos.pop()
            if todos and isinstance(new, HOLDERS) and not is_marked(new.leading_lines):
                return new.with_changes(leading_lines=marked(new.leading_lines, todos[:1], set()))
        return new
