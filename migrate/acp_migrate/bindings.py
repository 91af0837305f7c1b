"""The names that a file binds."""

from __future__ import annotations

import libcst as cst
from libcst import matchers as m

from acp_migrate.syntax import dotted, find, simple_statements, visit_only


def imported(module: cst.Module) -> dict[str, str]:
    """Return what a file imports with `from`, by local name."""
    found: dict[str, str] = {}
    for node in simple_statements(module):
        if isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            path = f"{'.' * len(node.relative)}{dotted(node.module)}"
            for each in node.names:
                found[each.evaluated_alias or each.evaluated_name] = f"{path}.{each.evaluated_name}"
    return found


def bound(module: cst.Module) -> set[str]:
    """Return the names that a file binds: by assignments, definitions, parameters and imports."""
    found: set[str] = set()
    visit_only(module, _Bound(found))
    return found


class ExpressionVisitor(cst.CSTVisitor):
    """Visits the names in expressions, but neither those of attributes nor those of keyword arguments."""

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        visit_only(node.value, self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        visit_only(node.value, self)
        return False


class _Bound(cst.CSTVisitor):
    def __init__(self, found: set[str]) -> None:
        super().__init__()
        self._found = found

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._found.add(dotted(node.target))

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._found.add(dotted(node.target))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._found.add(node.name.value)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._found.add(node.name.value)

    def visit_Param(self, node: cst.Param) -> None:
        self._found.add(node.name.value)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        self._found.add(node.evaluated_alias or node.evaluated_name.partition(".")[0])


def is_list_of_names(node: cst.CSTNode) -> bool:
    """Return whether a statement says what `import *` imports."""
    name = m.Name("__all__")
    return m.matches(node, m.Assign([m.AssignTarget(name)]) | m.AugAssign(name) | m.AnnAssign(name))


def listed(module: cst.Module) -> set[str]:
    """Return the names in the `__all__` of a file."""
    found = [each for each in simple_statements(module) if is_list_of_names(each)]
    return {str(one.evaluated_value) for each in found for one in find(each, cst.SimpleString)}
