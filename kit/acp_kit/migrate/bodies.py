"""The bodies of handlers: where they read their parameters, and what they return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import libcst as cst
from libcst import matchers as m

from acp_kit.migrate.bindings import ExpressionVisitor
from acp_kit.migrate.context import Context
from acp_kit.migrate.marking import marked
from acp_kit.migrate.names import Method
from acp_kit.migrate.syntax import names_in, statements


def reading(
    context: Context, method: Method, node: cst.FunctionDef, params: Sequence[cst.Param], request: str
) -> cst.FunctionDef:
    """Return a function that reads its parameters from the request: at its top, or where it uses one only once."""
    uses = Uses()
    node.body.visit(uses)
    lines: list[str] = []
    once: dict[str, str] = {}
    for each in params:
        name = each.name.value
        if not uses.count[name]:
            continue
        read = f"{request}.{name}" if name in method.params else from_meta(f"{request}.meta", each)
        if name == "mode" and method.old == "create_elicitation":
            read = request
            context.todo("`mode` is the request now: compare its class with `CreateElicitationRequestFormSession` etc.")
        if uses.count[name] == 1 and name not in uses.bound and read.isidentifier() is False and name in method.params:
            once[name] = read
        else:
            lines.append(f"{name} = {read}")
    rest = node.params.star_kwarg
    if rest is not None and uses.count[rest.name.value]:
        lines.append(f"{rest.name.value} = {request}.meta or {{}}")
    if once:
        body = node.body.visit(_Inlining(once))
        node = node.with_changes(body=body)
    return with_lines(node, lines)


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


def returning(context: Context, method: Method, node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a handler that returns a result in every case, where the old one could return None."""
    methods = import_module(f"{context.names.profile}.methods")
    tables = getattr(methods, f"{method.role.upper()}_REQUESTS")
    result = next((each.result for each in tables.values() if each.name == method.new), "")
    if not result:
        return node
    none_allowed = node.returns is None or bool(m.findall(node.returns, m.Name("None")))
    if node.returns is not None:
        annotation = _without_none(node.returns.annotation)
        if m.matches(annotation, m.Name("None")):
            annotation = context.name(result)
        node = node.with_changes(returns=node.returns.with_changes(annotation=annotation))
    model: Any = getattr(import_module(context.names.profile), result)
    empty = hasattr(model, "model_fields") and not any(each.is_required() for each in model.model_fields.values())
    returns = _Returns()
    node.body.visit(returns)
    falls = none_allowed and _falls_through(node.body)
    if not returns.empty and not falls:
        return node
    if not empty:
        text = f"Return `{result}` in every case."
        if falls:
            context.todo(text)
        body = node.body.visit(_Marked(text))
        assert isinstance(body, cst.BaseSuite)
        return node.with_changes(body=body)
    value = cst.Call(context.name(result))
    body = node.body.visit(_Filled(value))
    assert isinstance(body, cst.BaseSuite)
    if falls and isinstance(body, cst.IndentedBlock):
        kept = [each for each in body.body if not m.matches(each, m.SimpleStatementLine([m.Pass()]))]
        body = body.with_changes(body=[*kept, cst.SimpleStatementLine([cst.Return(value)])])
    return node.with_changes(body=body)


class _Returns(cst.CSTVisitor):
    """Finds whether a function returns None somewhere."""

    def __init__(self) -> None:
        self.empty = False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_Return(self, node: cst.Return) -> None:
        self.empty = self.empty or node.value is None or _without_result(node.value, _RESULT) is not node.value


class _Marked(cst.CSTTransformer):
    """Marks where a function returns None."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        returns = _Returns()
        original_node.visit(returns)
        if not returns.empty:
            return updated_node
        return updated_node.with_changes(leading_lines=marked(updated_node.leading_lines, [self._text], set()))


class _Filled(cst.CSTTransformer):
    def __init__(self, value: cst.BaseExpression) -> None:
        super().__init__()
        self._value = value

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        if original_node.value is None or updated_node.value is None:
            return updated_node.with_changes(value=self._value, whitespace_after_return=cst.SimpleWhitespace(" "))
        return updated_node.with_changes(value=_without_result(updated_node.value, self._value))


_RESULT = cst.Name("result")


def _without_result(node: cst.BaseExpression, result: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression with a result where it can be seen to be None."""
    if m.matches(node, m.Name("None")):
        return result
    if isinstance(node, cst.IfExp):
        body, orelse = _without_result(node.body, result), _without_result(node.orelse, result)
        return node if body is node.body and orelse is node.orelse else node.with_changes(body=body, orelse=orelse)
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        right = _without_result(node.right, result)
        return node if right is node.right else node.with_changes(right=right)
    return node


def _falls_through(body: cst.BaseSuite) -> bool:
    """Whether a block can end without `return` or `raise`."""
    last: cst.CSTNode | None = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    if isinstance(last, cst.Expr) and m.matches(last.value, m.Ellipsis()):
        return False
    if isinstance(last, cst.While):
        return not m.matches(last.test, m.Name("True") | m.Integer("1")) or bool(m.findall(last.body, m.Break()))
    if isinstance(last, cst.With):
        return _falls_through(last.body)
    if isinstance(last, cst.If):
        return _if_falls(last)
    if isinstance(last, cst.Match):
        last_case = last.cases[-1]
        complete = last_case.guard is None and m.matches(last_case.pattern, m.MatchAs(pattern=None))
        return not complete or any(_falls_through(each.body) for each in last.cases)
    if isinstance(last, (cst.Try, cst.TryStar)):
        if last.finalbody is not None and not _falls_through(last.finalbody.body):
            return False
        tried = last.orelse.body if last.orelse is not None else last.body
        return _falls_through(tried) or any(_falls_through(each.body) for each in last.handlers)
    return not isinstance(last, (cst.Return, cst.Raise))


def _if_falls(node: cst.If | cst.Else) -> bool:
    if isinstance(node, cst.Else):
        return _falls_through(node.body)
    return _falls_through(node.body) or node.orelse is None or _if_falls(node.orelse)


def _without_none(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, cst.BinaryOperation) and m.matches(node.right, m.Name("None")):
        return node.left
    if isinstance(node, cst.Subscript) and m.matches(node.value, m.Name("Optional")):
        first = node.slice[0].slice
        return first.value if isinstance(first, cst.Index) else node
    return node
