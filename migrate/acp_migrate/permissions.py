"""The arguments of `request_permission`, which had another order in older versions of `acp`."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from acp_migrate.context import Context
from acp_migrate.expressions import arguments, keyword
from acp_migrate.names import Method
from acp_migrate.resolving import permission_parameter
from acp_migrate.syntax import dotted

_PERMISSION = ("session_id", "tool_call", "options")


def permission_arguments(context: Context, method: Method, call: cst.Call) -> list[cst.Arg] | None:
    """Return the arguments of `request_permission` as keywords by what they are; None if it can't be told."""
    positional = [each for each in call.args if each.keyword is None]
    if method.old != "request_permission" or not positional or any(each.star for each in call.args):
        return None
    kinds = [_kind(context, each.value) for each in positional]
    if kinds.count("") == 1:
        left = {*_PERMISSION} - {*kinds, *arguments(call.args)}
        kinds[kinds.index("")] = left.pop() if len(left) == 1 else ""
    names = [*kinds, *(each.keyword.value for each in call.args if each.keyword)]
    if "" in kinds or len({*names}) < len(names):
        return None
    named = [
        keyword(kind, each.value).with_changes(comma=each.comma) for kind, each in zip(kinds, positional, strict=True)
    ]
    return [*named, *(each for each in call.args if each.keyword)]


def _kind(context: Context, value: cst.BaseExpression) -> str:
    """Return which parameter of `request_permission` a value is for; "" if it can't be told."""
    if isinstance(value, cst.Name):
        found = context.resolver.typed(value)
    else:
        found = permission_parameter(context.resolver, value) if not isinstance(value, cst.Attribute) else ""
    last = dotted(value).rpartition(".")[2].strip("_")
    return found or (last if last in _PERMISSION else "")


def servers(context: Context, args: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Return arguments with a list of models as `mcp_servers`, in whose place folders stand in newer versions."""
    return [
        each.with_changes(keyword=cst.Name("mcp_servers"))
        if each.keyword is not None
        and each.keyword.value == "additional_directories"
        and context.resolver.is_list_of_models(each.value)
        else each
        for each in args
    ]
