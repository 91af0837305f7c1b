"""Connections that are open in a block: `async with connect_streams(...)` and `spawn_agent(...)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context
from acp_migrate.marking import marked
from acp_migrate.syntax import statements

ALONE = "`spawn_agent` yields the connection alone, without its process."
OPEN = "Open this with `async with`, or `await stack.enter_async_context(...)`. Until then, it has no methods."


def yields_proxy(context: Context, node: cst.With, uses: Callable[[str], set[str]]) -> cst.With:
    """Return a block of `spawn_agent`, which yields the proxy alone, in place of the proxy and its process.

    Args:
        context: the file.
        node: the block.
        uses: returns the names of attributes that are used of a name.
    """
    items: list[cst.WithItem] = []
    for each in node.items:
        target = each.asname.name if each.asname else None
        if not isinstance(target, cst.Tuple) or len(target.elements) != 2 or not m.matches(each.item, _SPAWN):
            if target is not None and m.matches(each.item, _SPAWN):
                context.todo(ALONE)
            items.append(each)
            continue
        proxy, process = (one.value for one in target.elements)
        if not isinstance(proxy, cst.Name):
            context.todo(ALONE)
            items.append(each)
            continue
        items.append(each.with_changes(asname=cst.AsName(proxy, cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))))
        used = uses(process.value) if isinstance(process, cst.Name) and process.value != "_" else set[str]()
        if isinstance(process, cst.Name) and used:
            line = cst.parse_statement(f"{process.value} = {proxy.value}.process")
            body = cst.ensure_type(node.body, cst.IndentedBlock)
            node = node.with_changes(body=body.with_changes(body=[line, *body.body]))
            if not used <= {"pid", "returncode"}:
                context.todo(f"`{process.value}` has only `pid` and `returncode`.")
    return node.with_changes(items=items)


_SPAWN = m.Call(func=m.Name("spawn_agent") | m.Name("acp_spawn_agent"))
_CONNECT = m.Call(func=m.Name("connect_streams") | m.Name("acp_connect_streams"))


def connected_name(node: cst.CSTNode) -> cst.Name | None:
    """Return the name in `name = connect_streams(...)`."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return None
    assign = node.body[0]
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or not m.matches(assign.value, _CONNECT):
        return None
    target = assign.targets[0].target
    return target if isinstance(target, cst.Name) else None


def in_block(
    context: Context, body: Sequence[cst.BaseStatement], function: cst.CSTNode
) -> list[cst.BaseStatement] | None:
    """Return the statements of a block in which a connection is open until the end of an `async with` block.

    Args:
        context: the file.
        body: the statements.
        function: the function as it was before it was rewritten.

    Returns:
        None if the block opens no connection.
    """
    for position, each in enumerate(body):
        name = connected_name(each)
        if name is None:
            continue
        line = cst.ensure_type(each, cst.SimpleStatementLine)
        call = cst.ensure_type(line.body[0], cst.Assign).value
        below = body[position + 1 :]
        if _outlives(name.value, body[position:], function):
            open_it = line.with_changes(leading_lines=marked(line.leading_lines, [OPEN], set()))
            return [*body[:position], open_it, *(in_block(context, below, function) or below)]
        rest = _without_close(name.value, in_block(context, below, function) or below)
        if any(m.findall(one, m.Call(m.Attribute(m.Name(name.value), m.Name("close")))) for one in rest):
            context.todo(f"Leave the block of `{name.value}` in place of `{name.value}.close()`.")
        if rest:
            first: Any = rest[0]
            lines: list[cst.EmptyLine] = [*first.leading_lines]
            while lines and lines[0].comment is None:
                lines.pop(0)
            rest[0] = first.with_changes(leading_lines=lines)
        item = cst.WithItem(call, cst.AsName(name, cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" ")))
        block = cst.With(
            [item],
            cst.IndentedBlock(rest or [cst.parse_statement("pass")]),
            asynchronous=cst.Asynchronous(),
            leading_lines=line.leading_lines,
        )
        return [*body[:position], block]
    return None


def _outlives(name: str, block: Sequence[cst.BaseStatement], function: cst.CSTNode) -> bool:
    """Return whether a connection may be used after the end of a block."""
    inside = sum(len(m.findall(each, m.Name(name))) for each in block)
    if inside < len(m.findall(function, m.Name(name))):
        return True
    returned = m.Return(m.DoNotCare())
    stored = m.Assign([m.AssignTarget(m.Attribute() | m.Subscript())]) | m.AnnAssign(m.Attribute() | m.Subscript())
    for each in block:
        for one in m.findall(each, returned | stored):
            value = one.value if isinstance(one, (cst.Return, cst.Assign, cst.AnnAssign)) else None
            if value is not None and not isinstance(value, cst.Await) and _passes(name, value):
                return True
    return False


def _passes(name: str, value: cst.BaseExpression) -> bool:
    """Return whether an expression passes a value on, and not only one of its attributes."""
    return len(m.findall(value, m.Name(name))) > len(m.findall(value, m.Attribute(m.Name(name))))


def _without_close(name: str, body: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Leave out that a connection is closed where its block ends anyway."""
    if not body:
        return []
    close = m.SimpleStatementLine([m.Expr(m.Await(m.Call(m.Attribute(m.Name(name), m.Name("close")), [])))])
    last = body[-1]
    if m.matches(last, close):
        return [*body[:-1]]
    if not isinstance(last, cst.Try) or last.finalbody is None:
        return [*body]
    kept = [each for each in last.finalbody.body.body if not m.matches(each, close)]
    if kept:
        inner = last.finalbody.body.with_changes(body=kept)
        return [*body[:-1], last.with_changes(finalbody=last.finalbody.with_changes(body=inner))]
    if last.handlers:
        return [*body[:-1], last.with_changes(finalbody=None)]
    return [*body[:-1], *statements(last.body)]
