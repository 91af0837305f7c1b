"""Optional arguments that may be None, which the old SDK leaves out and which would be sent as null here."""

from __future__ import annotations

from typing import Any, get_args

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context
from acp_migrate.syntax import dotted

_NONE = m.Name("None")


def left_out(context: Context, value: cst.BaseExpression, field: Any) -> cst.BaseExpression:
    """Return the value of an optional argument with ABSENT in place of a None that can be seen.

    Args:
        context: the file.
        value: the value.
        field: the field of the model. If it takes no None, what annotations say of the project's names counts, too.
    """
    strict = field is not None and type(None) not in get_args(field.annotation)
    if m.matches(value, _NONE):
        return _absent(context)
    if isinstance(value, cst.IfExp):
        body = left_out(context, value.body, field)
        if isinstance(body, cst.IfExp) and not isinstance(value.body, cst.IfExp):
            body = body.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return value.with_changes(body=body, orelse=left_out(context, value.orelse, field))
    if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or):
        return value.with_changes(right=left_out(context, value.right, field))
    annotated = context.project.annotated
    if function := gives_none(context, value):
        refused = strict and getattr(field, "annotation", None) is not Any
        instead = "refused here: pass `ABSENT` then, or an empty list" if refused else "null here: pass `ABSENT` then"
        context.todo(f"`{function}` may return None, which is {instead}.")
    named = isinstance(value, cst.Name) and value.value in context.resolver.scopes[-1].optional
    if named or (
        strict and isinstance(value, cst.Attribute) and dotted(value) and value.attr.value in annotated.optional
    ):
        test = cst.Comparison(value, [cst.ComparisonTarget(cst.Is(), cst.Name("None"))])
        return cst.IfExp(test, _absent(context), value)
    return value


def gives_none(context: Context, value: cst.BaseExpression) -> str:
    """Return the function of a call that may give None, as its definition says; "" for another value."""
    value = value.expression if isinstance(value, cst.Await) else value
    function = dotted(value.func) if isinstance(value, cst.Call) else ""
    return function if function.rpartition(".")[2] in context.project.annotated.nones else ""


def _absent(context: Context) -> cst.Name:
    return context.name("ABSENT", "acp_runtime")
