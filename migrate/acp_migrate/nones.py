"""Optional arguments that may be None, which the old SDK leaves out and which would be sent as null here."""

from __future__ import annotations

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context

_NONE = m.Name("None")


def left_out(context: Context, value: cst.BaseExpression) -> cst.BaseExpression:
    """Return the value of an optional argument with ABSENT in place of a None that can be seen."""
    if isinstance(value, cst.IfExp) and m.matches(value.orelse, _NONE):
        return value.with_changes(orelse=_absent(context))
    if isinstance(value, cst.IfExp) and m.matches(value.body, _NONE):
        return value.with_changes(body=_absent(context))
    if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or) and m.matches(value.right, _NONE):
        return value.with_changes(right=_absent(context))
    if isinstance(value, cst.Name) and value.value in context.resolver.scopes[-1].optional:
        test = cst.Comparison(value, [cst.ComparisonTarget(cst.Is(), cst.Name("None"))])
        return cst.IfExp(test, _absent(context), value)
    return value


def _absent(context: Context) -> cst.Name:
    return context.name("ABSENT", "acp_runtime")
