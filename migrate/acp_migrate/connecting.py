"""Functions that connect: `run_agent`, `connect_to_agent`, `spawn_agent_process`, and `on_connect`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context
from acp_migrate.expressions import arguments, as_keywords, is_none, keyword
from acp_migrate.project import HandlerClass
from acp_migrate.syntax import names_in, statements

_REMOTE = {"agent": "RemoteClient", "client": "RemoteAgent"}
_FACTORY = "This takes a factory: a function that gets the {}'s proxy and returns the {}."


def takes_connection(context: Context, cls: HandlerClass) -> bool:
    """Whether instances of a class are created only where they are connected, so that `__init__` can do the work."""
    own = all(each.startswith("acp:") for each in cls.bases)  # there is no other class whose `__init__` has to run
    return (
        own and cls.connects_simply and not cls.stand_in and context.project.created.get(cls.name, 0) == cls.served > 0
    )


def factory(context: Context, role: str, given: cst.BaseExpression) -> cst.BaseExpression:
    """Return the factory for an agent or a client that was passed to a function of `acp`.

    Args:
        context: the file.
        role: of what was passed.
        given: an instance, or a factory.
    """
    if isinstance(given, cst.Lambda):
        return given
    if m.findall(given, m.Await() | m.Yield() | m.NamedExpr()):
        context.todo(_FACTORY.format("client" if role == "agent" else "agent", role))
        return given
    kind = context.resolver.value(given)
    if kind is None and isinstance(given, cst.Name) and given.value in context.project.classes:
        return given
    cls = context.project.classes.get(kind.cls) if kind and kind.cls else None
    used = {*names_in(given)}
    peer = next(each for each in ("client" if role == "agent" else "agent", "connection", "_peer") if each not in used)
    if cls is not None and takes_connection(context, cls) and isinstance(given, cst.Call):
        return given.func
    if cls is not None and context.project.method(cls.name, "on_connect") is None:
        return cst.Lambda(cst.Parameters([cst.Param(cst.Name(peer))]), given)
    if cls is None:
        context.todo(_FACTORY.format("client" if role == "agent" else "agent", role))
        return given
    made = isinstance(given, cst.Call)
    function = next(each for each in ("connect", f"connect_{role}", f"_connect_{role}") if each not in context.taken)
    lines = [f"def {function}({peer}: {context.use(_REMOTE[role])}) -> {cls.name}:"]
    code = cst.Module([]).code_for_node(given)
    name = next(each for each in (role, f"new_{role}", "_new") if each not in used) if made else code
    lines += [f"    {name} = {code}"] if made else []
    lines += [f"    {name}.on_connect({peer})", f"    return {name}", ""]
    context.inserted[-1].append(cst.ensure_type(cst.parse_statement("\n".join(lines)), cst.FunctionDef))
    return cst.Name(function)


def run_agent(context: Context, call: cst.Call) -> cst.BaseExpression:
    """Return the call that serves an agent."""
    args = as_keywords(call.args, ("agent", "input_stream", "output_stream"))
    if args is None or any(each.star for each in args) or "agent" not in arguments(args):
        context.todo("`serve_stdio` takes a factory and `options=`.")
        return call.with_changes(func=context.name("serve_stdio"))
    given = {name: value for name, value in arguments(args).items() if not is_none(value)}
    made = cst.Arg(factory(context, "agent", given.pop("agent")))
    streams = [given.pop(name) for name in ("output_stream", "input_stream") if name in given]
    rest = _options(context, given, "stdio_buffer_limit_bytes")
    function = "serve_streams" if streams else "serve_stdio"
    return cst.Call(context.name(function), [made, *map(cst.Arg, streams), *rest], lpar=call.lpar, rpar=call.rpar)


def _options(context: Context, given: dict[str, cst.BaseExpression], limit: str) -> list[cst.Arg]:
    """Return the argument `options` for the other arguments of a function that connects."""
    if "use_unstable_protocol" in given:
        unstable = given.pop("use_unstable_protocol")
        if m.matches(unstable, m.Name("True")) and not context.names.profile.endswith("unstable"):
            context.todo("For the unstable protocol, restore the file and use --unstable.")
    found: list[cst.Arg] = []
    if limit in given:
        options = cst.Call(context.name("Options", "acp_runtime"), [keyword("max_message_bytes", given.pop(limit))])
        found.append(keyword("options", options))
    for name in given:
        hint = "use `Options(on_frame=...)`" if name == "observers" else "see `acp_runtime.Options`"
        context.todo(f"There is no argument `{name}`: {hint}.")
    return found


def connect_to_agent(context: Context, call: cst.Call) -> cst.BaseExpression:
    """Return the context manager that connects to an agent."""
    args = as_keywords(call.args, ("client", "input_stream", "output_stream"))
    if (
        args is None
        or any(each.star for each in args)
        or not {"client", "input_stream", "output_stream"} <= {*arguments(args)}
    ):
        context.todo("`connect_streams` takes a factory, a StreamReader and a StreamWriter.")
        return call.with_changes(func=context.name("connect_streams"))
    given = arguments(args)
    made = factory(context, "client", given.pop("client"))
    writer, reader = given.pop("input_stream"), given.pop("output_stream")
    rest = _options(context, given, "")
    return cst.Call(context.name("connect_streams"), [*map(cst.Arg, (made, reader, writer)), *rest])


def spawn_agent(context: Context, call: cst.Call) -> cst.Call:
    """Return the context manager that starts an agent."""
    positional = [each for each in call.args if each.keyword is None]
    given = arguments(call.args)
    if not positional or any(each.star == "**" for each in call.args):
        context.todo("`spawn_agent` takes a factory, the command and its arguments, `cwd`, `env` and `options`.")
        return call.with_changes(func=context.name("spawn_agent"))
    made = positional[0].with_changes(value=factory(context, "client", positional[0].value))
    kept = [keyword(name, value) for name in ("env", "cwd") if (value := given.pop(name, None)) is not None]
    transport = given.pop("transport_kwargs", None)
    if isinstance(transport, cst.Dict):
        for each in transport.elements:
            if isinstance(each, cst.DictElement) and m.matches(each.key, m.SimpleString()):
                given[cst.ensure_type(each.key, cst.SimpleString).raw_value] = each.value
            else:
                given["transport_kwargs"] = transport
    elif transport is not None:
        given["transport_kwargs"] = transport
    rest = [*_options(context, given, "limit"), keyword("inherit_env", cst.Name("False"))]
    args = [made, *positional[1:], *kept, *rest]
    plain = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in args]
    return cst.Call(context.name("spawn_agent"), plain)


def _without_placeholders(body: cst.BaseSuite, stored: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Return the statements of `__init__` but those that set what is stored to None until there is a connection."""
    attributes = m.OneOf(*[m.Name(name) for each in stored for name in _stored(each)])
    target = m.Attribute(m.Name("self"), attributes)
    none = m.Name("None")
    placeholder = m.Assign([m.AssignTarget(target)], none) | m.AnnAssign(target, value=none | None)
    return [each for each in statements(body) if not m.matches(each, m.SimpleStatementLine([placeholder]))]


def _stored(statement: cst.BaseStatement) -> list[str]:
    found = m.findall(statement, m.AssignTarget(m.Attribute(m.Name("self"))))
    return [cst.ensure_type(cst.ensure_type(each, cst.AssignTarget).target, cst.Attribute).attr.value for each in found]


FUNCTIONS: dict[str, Callable[[Context, cst.Call], cst.BaseExpression]] = {
    "run_agent": run_agent,
    "connect_to_agent": connect_to_agent,
    "ClientSideConnection": connect_to_agent,
    "spawn_agent_process": spawn_agent,
}


def initializer(context: Context, body: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    """Return the body of a class whose `__init__` does what `on_connect` did."""
    found = {each.name.value: each for each in body if isinstance(each, cst.FunctionDef)}
    connect, init = found["on_connect"], found.get("__init__")
    context.changes += 1
    lines = [
        each
        for each in statements(connect.body)
        if not m.matches(each, m.SimpleStatementLine([m.Expr(m.SimpleString()) | m.Pass()]))
    ]
    if init is None:
        new = connect.with_changes(name=cst.Name("__init__"), body=cst.IndentedBlock(lines))
        return [new if each is connect else each for each in body]
    merged = init.with_changes(
        params=init.params.with_changes(params=[init.params.params[0], connect.params.params[1]]),
        body=init.body.with_changes(body=[*lines, *_without_placeholders(init.body, lines)]),
    )
    return [merged if each is init else each for each in body if each is not connect]
