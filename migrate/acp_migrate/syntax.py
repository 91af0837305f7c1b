"""Small questions about pieces of code."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from libcst import matchers as m


def parameters(node: cst.FunctionDef) -> tuple[str, ...]:
    """Return the names of a method's parameters, without `self`, `*args` and `**kwargs`."""
    params = node.params
    names = [each.name.value for each in (*params.posonly_params, *params.params)][1:]
    return (*names, *(each.name.value for each in params.kwonly_params))


def dotted(node: cst.CSTNode | None) -> str:
    """Return `a.b.c` for a name with attributes; "" for another expression."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        start = dotted(node.value)
        return f"{start}.{node.attr.value}" if start else ""
    return ""


def names_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that occur in a piece of code, keywords and attributes included."""
    for each in m.findall(node, m.Name()):
        yield cst.ensure_type(each, cst.Name).value


def statements(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    """Return the statements of a block, each on a line of its own."""
    return [each if isinstance(each, cst.BaseStatement) else cst.SimpleStatementLine([each]) for each in block.body]


def simple_statements(node: cst.CSTNode) -> Iterator[cst.BaseSmallStatement]:
    """Yield the simple statements in a piece of code, such as imports and assignments, without visiting expressions."""
    for each in node.children:
        if isinstance(each, cst.BaseSmallStatement):
            yield each
        elif isinstance(each, _HOLDERS):
            yield from simple_statements(each)


_HOLDERS = (
    *(cst.BaseSuite, cst.BaseStatement, cst.Else, cst.Finally),
    *(cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase),
)


def in_string(node: cst.SimpleString) -> cst.BaseExpression | None:
    """Return the expression in a string that is an annotation; None if there is none."""
    text = node.evaluated_value
    try:
        return cst.parse_expression(text) if isinstance(text, str) else None
    except cst.ParserSyntaxError:
        return None


def may_be_none(value: cst.BaseExpression) -> bool:
    """Return whether an expression can be seen to give None in some case."""
    if isinstance(value, cst.IfExp):
        return may_be_none(value.body) or may_be_none(value.orelse)
    if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or):
        return may_be_none(value.right)
    return m.matches(value, m.Name("None"))


def accepts_none(annotation: cst.BaseExpression) -> bool:
    """Return whether an annotation is that of an optional value: `X | None` or `Optional[X]`."""
    if isinstance(annotation, cst.SimpleString):
        parsed = in_string(annotation)
        return parsed is not None and accepts_none(parsed)
    if isinstance(annotation, cst.BinaryOperation):
        return accepts_none(annotation.left) or accepts_none(annotation.right)
    if isinstance(annotation, cst.Subscript):
        return dotted(annotation.value).rpartition(".")[2] == "Optional"
    return m.matches(annotation, m.Name("None"))
