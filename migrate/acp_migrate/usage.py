"""The names that a file uses."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst
from libcst.metadata import MetadataWrapper, ScopeProvider

from acp_migrate.bindings import ExpressionVisitor, is_list_of_names
from acp_migrate.syntax import dotted, find, in_string, visit_only

_NAMED = re.compile(rb"\b(?:from|import)\b[^\n]*(?:\\\r?\n[^\n]*)*\bacp\b|\bacp(?:\.\S|\s+as\b)")
_LOADED = re.compile(rb"""["']acp["']""")
_LOADERS = re.compile(rb"\b(?:import_module|__import__|importorskip|find_spec|sys\.modules)\b")
# Functions whose arguments are types, also in strings.
TYPING = ("cast", "TypeVar", "NewType")


def may_use_acp(content: bytes) -> bool:
    """Return whether a file imports `acp`, uses it or names a part of it, by its text.

    Parsing takes long, and there are large files that only have the word.
    """
    if _NAMED.search(content):
        return True
    return _LOADED.search(content) is not None and _LOADERS.search(content) is not None


def unresolved(module: cst.Module) -> set[str]:
    """Return the names that a file uses and that nothing binds where they are used."""
    found = MetadataWrapper(module).resolve(ScopeProvider)
    scopes = {each for each in found.values() if each is not None}
    accesses = [access for scope in scopes for access in scope.accesses if not access.referents]
    return {dotted(access.node).partition(".")[0] for access in accesses}


def used_names(module: cst.CSTNode) -> set[str]:
    """Return the names that a file or a part of it uses, outside of imports."""
    found: set[str] = set()
    visit_only(module, _Used(found))
    return found


class _Used(ExpressionVisitor):
    def __init__(self, found: set[str]) -> None:
        super().__init__()
        self._found = found

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self._found.add(node.value)

    def visit_Annotation(self, node: cst.Annotation) -> None:
        for each in find(node, cst.SimpleString):
            parsed = in_string(each)
            if parsed is not None:
                visit_only(parsed, self)

    def visit_Assign(self, node: cst.Assign) -> bool:
        return not is_list_of_names(node)

    def visit_Call(self, node: cst.Call) -> None:
        if dotted(node.func).rpartition(".")[2] in TYPING:
            self._strings([*node.args])

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        if node.value is not None and dotted(node.annotation.annotation).rpartition(".")[2] == "TypeAlias":
            self._strings([node.value])

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._strings([*node.slice])

    def _strings(self, nodes: Sequence[cst.CSTNode]) -> None:
        for each in nodes:
            for one in find(each, cst.SimpleString):
                text = one.evaluated_value
                if isinstance(text, str) and text.isidentifier() and text != "acp":
                    self._found.add(text)
