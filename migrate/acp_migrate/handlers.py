"""Methods of agents and clients: one request object in place of keywords."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, get_origin

import libcst as cst
from libcst import matchers as m

from acp_migrate.bodies import Uses, from_meta, reading, with_lines
from acp_migrate.calls import DISTINCTIVE, request_class
from acp_migrate.context import Context
from acp_migrate.names import Method
from acp_migrate.own import stands_in
from acp_migrate.project import HandlerClass
from acp_migrate.results import returning
from acp_migrate.syntax import dotted, names_in, parameters, visit_only

_OPENING = ("new_session", "load_session", "request_permission")  # what nothing else than an agent or a client has
_NOTIFICATIONS = {"session_update", "complete_elicitation", "cancel"}


def handler(context: Context, cls: HandlerClass, node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a method of an agent or a client as it is here."""
    name = node.name.value
    if name in ("ext_method", "ext_notification"):
        return _extension(context, node)
    methods = context.names.methods[cls.role]
    method = methods.get(name) or next((each for each in methods.values() if camel(each.old) == name), None)
    if method is None:
        if name == "on_connect":  # there is no such method to override
            kept = [each for each in node.decorators if dotted(each.decorator).rpartition(".")[2] != "override"]
            return node.with_changes(decorators=kept)
        dead = next((why for old, why in context.names.dead.items() if name in (old, camel(old))), "")
        if dead:
            context.todo(f"Nothing calls `{name}`: {dead}.")
        return node
    request = request_class(context, method)
    if not request:
        context.todo(f"`{method.new}` is only in `acp_bindings.v1_unstable`: restore the file and use --unstable.")
        return node
    if cls.stand_in:
        return _stand_in(context, method, node)
    context.changes += 1
    node = node.with_changes(name=cst.Name(method.new))
    if _takes_request(method, node):
        return node
    _, *params = *node.params.posonly_params, *node.params.params, *node.params.kwonly_params
    if isinstance(node.params.star_arg, cst.Param):
        context.todo(f"This takes one request, `{request}`.")
        return node
    parameter = _free(("notification" if method.old in _NOTIFICATIONS else "request", "params"), node)
    lists = _lists(context, request, node, params)
    node = reading(context, method, node, params, parameter, lists)
    node = returning(context, method, node)
    annotated = cst.Param(cst.Name(parameter), cst.Annotation(context.name(request)))
    first = [*node.params.posonly_params, *node.params.params][0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(
        params=cst.Parameters(params=[first, annotated]), whitespace_before_params=cst.SimpleWhitespace("")
    )


def _lists(context: Context, request: str, node: cst.FunctionDef, params: Sequence[cst.Param]) -> set[str]:
    """Return and mark the parameters that the old SDK gives as None if the peer sends no list, and that may be None."""
    found: set[str] = set()
    fields: Any = getattr(getattr(import_module(context.names.profile), request), "model_fields", {})
    for each in params:
        name = each.name.value
        used = m.findall(node.body, m.Comparison(m.Name(name)) | m.Arg(m.Name(name)))
        listed = name in fields and get_origin(fields[name].annotation) is list
        if used and listed and m.matches(each, m.Param(default=m.Name("None"))):
            found.add(name)
            context.todo(f"`{name}` is now also None if the peer sends an empty list.")
    return found


def fake(context: Context, cls: str, node: cst.FunctionDef) -> None:
    """Mark a method of a class that isn't known to be an agent or a client, but has the signature of one."""
    for methods in context.names.methods.values():
        method = methods.get(node.name.value)
        if method is None or method.new == method.old:
            continue
        given = {*parameters(node)} & {*method.params}
        if stands_in(cls) and ("session_id" in given or (context.uses_acp and method.old in DISTINCTIVE)):
            context.todo(f"If this stands in for a connection, `{method.old}` is `{method.new}`, with keywords.")
        elif context.uses_acp and node.params.star_kwarg and len(given) > 1 and method.old in _OPENING:
            context.todo(f"In an agent or a client, `{method.old}` is `{method.new}`, and takes one request.")


def camel(name: str) -> str:
    """Return the name that early versions of `acp` had for a method."""
    first, *rest = name.split("_")
    return first + "".join(each.title() for each in rest)


def _takes_request(method: Method, node: cst.FunctionDef) -> bool:
    """Whether a method has the signature of early versions of `acp`, with one object."""
    params = node.params.params[1:]
    return len(params) == 1 and params[0].name.value not in method.params and not node.params.star_kwarg


def _free(wanted: Sequence[str], node: cst.FunctionDef) -> str:
    used = {*names_in(node.body)}
    return next((each for each in wanted if each not in used), f"_{wanted[0]}")


def _stand_in(context: Context, method: Method, node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a method of a class that is used in place of a connection, which is called with keywords."""
    context.changes += 1
    if isinstance(node.params.star_arg, cst.Param):
        return node.with_changes(name=cst.Name(method.new))
    first, *params = *node.params.posonly_params, *node.params.params, *node.params.kwonly_params
    uses = Uses()
    visit_only(node.body, uses)
    own = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in params if each.name.value in method.params]
    further = [each for each in params if each.name.value not in method.params and uses.count[each.name.value]]
    rest = node.params.star_kwarg
    meta = cst.Param(
        cst.Name("meta"),
        cst.Annotation(cst.parse_expression(f"dict[str, {context.use('Any', 'typing')}] | None")),
        default=cst.Name("None"),
        equal=cst.AssignEqual(),
    )
    names = [each.name.value for each in own if each.default is not None]
    absent = ", ".join(f"`{name}`" for name in names if uses.count[name] > (name in uses.bound))  # more than a `del`
    context.todo(f"A call may pass `ABSENT`, `MISSING` as text, in place of None: {absent}." if absent else "")
    reads = [f"{each.name.value} = {from_meta('meta', each)}" for each in further]
    if rest is not None and uses.count[rest.name.value]:
        reads.append(f"{rest.name.value} |= meta or {{}}")
    return with_lines(node, reads).with_changes(
        name=cst.Name(method.new),
        params=cst.Parameters(
            params=[first.with_changes(comma=cst.MaybeSentinel.DEFAULT)],
            star_arg=cst.ParamStar(),
            kwonly_params=[*own, meta],
            star_kwarg=rest,
        ),
        whitespace_before_params=cst.SimpleWhitespace(""),
    )


def _extension(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Return a handler of extension methods, whose names begin with an underscore here."""
    context.changes += 1
    params = node.params.params
    if node.name.value == "ext_method":
        node = node.with_changes(name=cst.Name("ext_request"))
    if len(params) < 2:
        context.todo("The name of the method begins with an underscore.")
        return node
    name = params[1].name.value
    return with_lines(node, [f'{name} = {name}.removeprefix("_")'] if name in {*names_in(node.body)} else [])
