"""What handlers return: a result in every case, where the old ones could return None."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context
from acp_migrate.marking import marked
from acp_migrate.names import Method
from acp_migrate.syntax import names_in, visit_only


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
    declared = node.returns is not None and none_allowed
    returns = _Returns(declared=declared)
    visit_only(node.body, returns)
    if returns.mapping or (node.returns is not None and {*names_in(node.returns)} & _MAPPINGS):
        context.todo(f"This returns a response, not a dict: `{result}(...)`.")
    falls = none_allowed and _falls_through(node.body)
    if not returns.empty and not falls:
        return node
    if not empty:
        text = f"Return `{result}` in every case."
        if falls:
            context.todo(text)
        body = node.body.visit(_Marked(text, declared=declared))
        assert isinstance(body, cst.BaseSuite)
        return node.with_changes(body=body)
    value = cst.Call(context.name(result))
    body = node.body.visit(_Filled(value, declared=declared))
    assert isinstance(body, cst.BaseSuite)
    if falls and isinstance(body, cst.IndentedBlock):
        kept = [each for each in body.body if not m.matches(each, m.SimpleStatementLine([m.Pass()]))]
        body = body.with_changes(body=[*kept, cst.SimpleStatementLine([cst.Return(value)])])
    return node.with_changes(body=body)


class _Returns(cst.CSTVisitor):
    """Finds whether a function returns None or a dict somewhere.

    Args:
        declared: whether the function is declared to, so that what it calls may do so.
    """

    def __init__(self, *, declared: bool) -> None:
        super().__init__()
        self.empty = False
        self.mapping = False
        self._declared = declared

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_Return(self, node: cst.Return) -> None:
        self.empty = self.empty or node.value is None
        self.mapping = self.mapping or m.matches(node, m.Return(_MAPPING))
        if node.value is not None and not self.empty:
            filled = _without_result(node.value, _RESULT, declared=self._declared)
            self.empty = filled is not node.value


class _Marked(cst.CSTTransformer):
    """Marks where a function returns None."""

    def __init__(self, text: str, *, declared: bool) -> None:
        super().__init__()
        self._text = text
        self._declared = declared

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        returns = _Returns(declared=self._declared)
        visit_only(original_node, returns)
        if not returns.empty:
            return updated_node
        return updated_node.with_changes(leading_lines=marked(updated_node.leading_lines, [self._text], set()))


class _Filled(cst.CSTTransformer):
    def __init__(self, value: cst.BaseExpression, *, declared: bool) -> None:
        super().__init__()
        self._value = value
        self._declared = declared

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        if original_node.value is None or updated_node.value is None:
            return updated_node.with_changes(value=self._value, whitespace_after_return=cst.SimpleWhitespace(" "))
        return updated_node.with_changes(
            value=_without_result(updated_node.value, self._value, declared=self._declared)
        )


_RESULT = cst.Name("result")
_MAPPINGS = {"dict", "Dict", "Mapping"}
_MAPPING = m.Dict() | m.DictComp() | m.Call(m.Name("dict") | m.Attribute(attr=m.Name("model_dump")))


# Calls of constructors give no None.
_CLASS = m.Name(m.MatchRegex(r"_*[A-Z].*"))
_MAKES = m.Call(_CLASS | m.Attribute(attr=_CLASS))


def _without_result(node: cst.BaseExpression, result: cst.BaseExpression, *, declared: bool) -> cst.BaseExpression:
    """Return an expression with a result where it can be seen to be None, or where a call may give it.

    Args:
        node: the expression.
        result: the result.
        declared: whether the function is declared to return None in some cases.
    """
    if m.matches(node, m.Name("None")):
        return result
    if isinstance(node, cst.IfExp):
        body = _without_result(node.body, result, declared=declared)
        orelse = _without_result(node.orelse, result, declared=declared)
        return node if body is node.body and orelse is node.orelse else node.with_changes(body=body, orelse=orelse)
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        right = _without_result(node.right, result, declared=declared)
        return node if right is node.right else node.with_changes(right=right)
    if declared and isinstance(node, (cst.Await, cst.Call)) and not m.matches(node, _MAKES):
        return cst.BooleanOperation(node, cst.Or(), result)
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
