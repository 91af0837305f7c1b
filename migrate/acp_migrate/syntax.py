"""Small questions about pieces of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, cast

import libcst as cst
from libcst import matchers as m

T = TypeVar("T", bound=cst.CSTNode)


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


def parts_of(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the nodes in a node, without whitespace, operators and parentheses."""
    return [each for name in _fields(type(node)) for each in _nodes(getattr(node, name))]


def _nodes(value: Any) -> Sequence[cst.CSTNode]:
    """Return the nodes in a field."""
    if isinstance(value, (list, tuple)):
        return [each for each in cast("Sequence[Any]", value) if is_a(each.__class__, cst.CSTNode)]
    return (cast("cst.CSTNode", value),) if is_a(value.__class__, cst.CSTNode) else ()


@cache
def is_a(kind: type[Any], bases: type[Any] | tuple[type[Any], ...]) -> bool:
    """Return whether a class is of some kinds. `isinstance` takes long for nodes, whose classes are abstract."""
    return issubclass(kind, bases)


@cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if not _PUNCTUATION.search(each.name))


_PUNCTUATION = re.compile(
    "whitespace|lines|header|footer|^([lr](par|bracket|brace)|comma|equal|operator|semicolon|colon|dot)$"
)


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all nodes in it, in their order. `libcst` itself would make new nodes, which takes long."""
    yield node
    for each in parts_of(node):
        yield from walk(each)


def find(node: cst.CSTNode, kind: type[T]) -> list[T]:
    """Return the nodes of a kind in a piece of code."""
    return [each for each in walk(node) if isinstance(each, kind)]


def visit_only(node: cst.CSTNode, visitor: Any) -> None:
    """Let a visitor see a piece of code, as `node.visit(visitor)` does, without making new nodes."""
    visit, parts, leave = _methods(visitor.__class__, type(node))
    if visit is None or visit(visitor, node) is not False:
        for name, before, after in parts:
            nodes = _nodes(getattr(node, name))
            if nodes and before is not None:
                before(visitor, node)
            for each in nodes:
                visit_only(each, visitor)
            if nodes and after is not None:
                after(visitor, node)
    if leave is not None:
        arguments = (node, node) if isinstance(visitor, cst.CSTTransformer) else (node,)
        leave(visitor, *arguments)


@cache
def _methods(visitor: type[Any], kind: Any) -> tuple[Any, list[tuple[str, Any, Any]], Any]:
    """Return the methods of a visitor that visit a node of a kind, its fields, and leave it; None for one of libcst."""

    def method(name: str) -> Any:
        found = getattr(visitor, name, None)
        return None if found in (getattr(each, name, None) for each in (cst.CSTVisitor, cst.CSTTransformer)) else found

    name = kind.__name__
    parts = [(each, method(f"visit_{name}_{each}"), method(f"leave_{name}_{each}")) for each in _fields(kind)]
    return method(f"visit_{name}"), parts, method(f"leave_{name}")


def names_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that occur in a piece of code, keywords and attributes included."""
    yield from (each.value for each in find(node, cst.Name))


def statements(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    """Return the statements of a block, each on a line of its own."""
    return [each if isinstance(each, cst.BaseStatement) else cst.SimpleStatementLine([each]) for each in block.body]


def simple_statements(node: cst.CSTNode) -> Iterator[cst.BaseSmallStatement]:
    """Yield the simple statements in a piece of code, such as imports and assignments, without visiting expressions."""
    for each in parts_of(node):
        if is_a(type(each), cst.BaseSmallStatement):
            yield cast("cst.BaseSmallStatement", each)
        elif is_a(type(each), STATEMENTS):
            yield from simple_statements(each)


# What has statements in it.
STATEMENTS = (
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


# What tests pass in place of a model.
_NO_MODEL = re.compile("cast|object|SimpleNamespace|.*(Mock|Fake|Stub|Dummy).*")


def is_no_model(value: cst.BaseExpression) -> bool:
    """Return whether a value is what tests pass in place of a model."""
    return isinstance(value, cst.Call) and _NO_MODEL.fullmatch(dotted(value.func).rpartition(".")[2]) is not None
