"""The bodies of handlers: where they read their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst
from libcst import matchers as m

from acp_migrate.bindings import ExpressionVisitor
from acp_migrate.context import Context
from acp_migrate.names import Method
from acp_migrate.syntax import find, names_in, statements, visit_only


def reading(
    context: Context, method: Method, node: cst.FunctionDef, params: Sequence[cst.Param], request: str, lists: set[str]
) -> cst.FunctionDef:
    """Return a function that reads its parameters from the request: at its top, or where it uses one only once.

    Args:
        context: the file.
        method: which method this is.
        node: the function.
        params: its parameters.
        request: the name of the request.
        lists: the parameters that are None if the peer sends no list.
    """
    rest = node.params.star_kwarg
    node = _without_del(node, {each.name.value for each in (*params, *([rest] if rest else ()))})
    uses = Uses()
    visit_only(node.body, uses)
    lines: list[str] = []
    once: dict[str, str] = {}
    for each in params:
        name = each.name.value
        if not uses.count[name]:
            continue
        read = f"{request}.{name}" if name in method.params else from_meta(f"{request}.meta", each)
        read = f"{read} or None" if name in lists else read
        if name == "mode" and method.old == "create_elicitation":
            read = request
            context.todo("`mode` is the request now: compare its class with `CreateElicitationRequestFormSession` etc.")
        plain = name in method.params and name not in {*uses.bound, *lists} and not read.isidentifier()
        if uses.count[name] == 1 and plain:
            once[name] = read
        else:
            lines.append(f"{name} = {read}")
    if rest is not None and uses.count[rest.name.value]:
        given = {each.name.value for each in params}
        fields = [
            f'"{each}": {request}.{each}' for each in method.params if each not in given and _is_named(each, node)
        ]
        further = f"{request}.meta or {{}}"
        everything = ", ".join([*fields, f"**({further})"])
        lines.append(f"{rest.name.value} = {{{everything}}}" if fields else f"{rest.name.value} = {further}")
    if once:
        body = node.body.visit(_Inlining(once))
        node = node.with_changes(body=body)
    return with_lines(node, lines)


def _without_del(node: cst.FunctionDef, params: set[str]) -> cst.FunctionDef:
    """Return a function without `del a, b` of parameters that it doesn't use, which linters ask for."""
    uses = Uses()
    visit_only(node.body, uses)
    unused = {name for name in params if uses.count[name] == 1}
    body = [each for each in statements(node.body) if not _deletes_only(each, unused)]
    if len(body) == len(statements(node.body)):
        return node
    return node.with_changes(body=node.body.with_changes(body=body or [cst.parse_statement("pass")]))


def _deletes_only(node: cst.BaseStatement, names: set[str]) -> bool:
    return m.matches(node, m.SimpleStatementLine([m.Del()])) and {*names_in(node)} <= names


def _is_named(field: str, node: cst.FunctionDef) -> bool:
    """Return whether a handler reads a field from its `**kwargs`."""
    return any(each.evaluated_value == field for each in find(node.body, cst.SimpleString))


def from_meta(meta: str, param: cst.Param) -> str:
    """Return the expression for a parameter that the old SDK takes from `_meta`."""
    name = param.name.value
    if param.default is None:
        return f'({meta} or {{}})["{name}"]'
    return f'({meta} or {{}}).get("{name}", {cst.Module([]).code_for_node(param.default)})'


class Uses(ExpressionVisitor):
    """Counts how often names are used in expressions, and finds those that are bound."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()
        self.bound: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:
        self.count[node.value] += 1

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self.bound |= {*names_in(node.target)}

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self.bound |= {*names_in(node.target)}

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self.bound |= {*names_in(node.target)}

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self.bound |= {*names_in(node.target)}

    def visit_For(self, node: cst.For) -> None:
        self.bound |= {*names_in(node.target)}

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self.bound |= {*names_in(node.target)}

    def visit_Param(self, node: cst.Param) -> None:
        self.bound.add(node.name.value)

    def visit_Del(self, node: cst.Del) -> None:
        self.bound |= {*names_in(node)}

    def visit_MatchAs(self, node: cst.MatchAs) -> None:
        self.bound |= {*names_in(node.name)} if node.name else set()

    def visit_MatchStar(self, node: cst.MatchStar) -> None:
        self.bound |= {*names_in(node.name)} if node.name else set()

    def visit_MatchMapping(self, node: cst.MatchMapping) -> None:
        self.bound |= {*names_in(node.rest)} if node.rest else set()

    def visit_NameItem(self, node: cst.NameItem) -> None:
        self.bound |= {*names_in(node)}

    def visit_AsName(self, node: cst.AsName) -> None:
        self.bound |= {*names_in(node)}


class _Inlining(cst.CSTTransformer):
    def __init__(self, reads: Mapping[str, str]) -> None:
        super().__init__()
        self._reads = reads

    def visit_Attribute_attr(self, node: cst.Attribute) -> None:
        self._plain = node.attr

    def visit_Arg_keyword(self, node: cst.Arg) -> None:
        self._keyword = node.keyword

    _plain: cst.Name | None = None
    _keyword: cst.Name | None = None

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        if original_node is self._plain or original_node is self._keyword or original_node.value not in self._reads:
            return updated_node
        return cst.parse_expression(self._reads[original_node.value])


def with_lines(node: cst.FunctionDef, lines: Sequence[str]) -> cst.FunctionDef:
    """Return a function with statements before its body, after its docstring."""
    if not lines:
        return node
    body = node.body
    below = statements(body)
    if isinstance(body, cst.SimpleStatementSuite):
        body = cst.IndentedBlock(below)
    at = 1 if node.get_docstring() is not None else 0
    added: list[Any] = [cst.parse_statement(line) for line in lines]
    if 0 < at < len(below):
        first: Any = below[at]
        blank = [*first.leading_lines][:1]
        if blank and blank[0].comment is None:
            added[0] = added[0].with_changes(leading_lines=blank)
            below[at] = first.with_changes(leading_lines=first.leading_lines[1:])
    return node.with_changes(body=body.with_changes(body=[*below[:at], *added, *below[at:]]))
