"""Calls of the protocol's methods: on connections, which take keywords, and on handlers, which take a request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context
from acp_migrate.expressions import arguments, as_keywords, check_required, is_none, keyword, relist
from acp_migrate.names import Method
from acp_migrate.nones import gives_none, left_out
from acp_migrate.own import is_own
from acp_migrate.permissions import permission_arguments, servers
from acp_migrate.project import HandlerClass, Kind
from acp_migrate.syntax import dotted, is_no_model, names_in

# Keywords that connections here require, and what the old SDK sends in place of None.
_REQUIRED = {"session_new": {"mcp_servers": "[]"}, "session_load": {"mcp_servers": "[]"}}
# Methods of no other library, so that a call on an unknown object is worth a comment.
DISTINCTIVE = {
    *("new_session", "load_session", "list_sessions", "set_session_mode", "set_config_option", "fork_session"),
    *("resume_session", "request_permission", "write_text_file", "read_text_file", "create_terminal"),
    *("release_terminal", "wait_for_terminal_exit", "kill_terminal", "create_elicitation", "complete_elicitation"),
}

EXTENSIONS = {"ext_method": "ext_request", "ext_notification": "ext_notification"}
_RAW = {"send_request", "send_notification", "close"}
_CONN = "There is no `_conn`: call the method of the connection, or `request(...)` and `notify(...)` with its params."
# Of those that are gone, methods of no other library.
_DEAD = {"set_session_model", "setSessionModel", "start_nes", "suggest_nes", "connect_mcp", "disconnect_mcp"}
_DUMP = "This gives the names of JSON, such as `toolCallId`; with `by_alias=False`, those of fields."
# From which positional argument on `acp` 0.12 has another order than older versions.
_REORDERED = {
    **dict.fromkeys(["prompt", "set_session_mode", "request_permission", "write_text_file", "read_text_file"], 1),
    **dict.fromkeys(["new_session", "load_session", "fork_session", "resume_session"], 2),
    "create_terminal": 1,
    "list_sessions": 1,
}
_FAKE = m.Call(m.OneOf(m.Name(m.MatchRegex(".*Mock")), m.Attribute(attr=m.Name(m.MatchRegex(".*Mock")))))
# Other methods, with the number of arguments with which a call in a file that uses `acp` is worth a comment.
_REQUIRED_BY = {"prompt": 2, "cancel": 1, "initialize": 1, "authenticate": 1, "session_update": 2}
_TASK = re.compile(r"(?i)(task|future|scope|timer|handle)s?$")
# What tests do with the methods of a fake.
_MOCKED = re.compile("assert_.*|return_value|side_effect|call_.*|await_.*|called|awaited|mock_calls|reset_mock")
# Parameters that few functions of other libraries have.
_TELLING = {"session_id", "protocol_version", "client_capabilities"}


def request_class(context: Context, method: Method) -> str:
    """Return the name of the params of a method; "" if the profile doesn't have the method."""
    methods = import_module(f"{context.names.profile}.methods")
    tables = [getattr(methods, f"{method.role.upper()}_{kind}") for kind in ("REQUESTS", "NOTIFICATIONS")]
    found: list[Any] = [each for table in tables for each in table.values() if each.name == method.new]
    return str(found[0].params) if found else ""


def method_call(context: Context, original: cst.Call, call: cst.Call) -> cst.BaseExpression | None:
    """Return the call of a method of the protocol as it is here; None if it isn't one."""
    old, new = original.func, call.func
    if not isinstance(old, cst.Attribute) or not isinstance(new, cst.Attribute):
        return None
    name = old.attr.value
    if name == "to_error_obj" and not call.args and dotted(old.value):
        error = cst.Module([]).code_for_node(new.value)
        return cst.parse_expression(f'{{"code": {error}.code, "message": {error}.message, "data": {error}.data}}')
    if (
        name in ("model_dump", "model_dump_json")
        and context.resolver.is_model(old.value)
        and "by_alias" not in arguments(call.args)
    ):
        context.todo(_DUMP)
        return None
    kind = context.resolver.value(old.value)
    if name == "on_connect" and len(call.args) == 1:
        return _on_connect(context, original.args[0].value, call)
    if (gone := _gone(context, old, kind)) is not None:
        context.todo(gone)
        return None
    if kind is None:
        context.todo(_of_unknown(context, old, call))
        return None
    if name in ("ext_method", "ext_notification"):
        return _extension(context, kind, call, new)
    if name == "close" and not kind.cls and dotted(old.value) not in context.resolver.scopes[-1].blocks:
        context.todo("There is no `close`: leave the `async with` block of the connection instead.")
        return None
    method = context.names.methods[kind.role].get(name)
    if method is None:
        return None
    stand_in = kind.cls and context.project.classes[kind.cls].stand_in
    if kind.cls and not stand_in:
        return _on_handler(context, kind, method, call, new)
    return _on_connection(context, method, call, new)


def _of_unknown(context: Context, func: cst.Attribute, call: cst.Call) -> str:
    """Return what to say of a call of a method of an unknown object; "" if it has nothing to do with the protocol."""
    name = func.attr.value
    if name in EXTENSIONS:
        return f"`{name}` is `{EXTENSIONS[name]}`, with the whole wire name: `_name` instead of `name`."
    method = _likely_method(context, func, call)
    if method is None:
        return ""
    if method.new != name or not all(each.keyword for each in call.args):
        renaming = "" if name == method.new else f"`{name}` is `{method.new}`. "
        return f"{renaming}A connection takes keywords, a handler one request object."
    agent = name == "initialize" and "acp_bindings" not in str(context.imported)
    return "If this is an agent and no connection, pass an `InitializeRequest`." if agent else ""


def unknown_method(context: Context, node: cst.Attribute) -> str:
    """Return what to say of a method of the protocol that an unknown object has, without calling it; "" for another."""
    name = node.attr.value
    own = {*context.project.own.get(name, ())} - {*context.project.classes}
    if own and is_own(own, dotted(node.value), context.resolver.scopes[-1].cls):
        return ""
    if name == "load_session" and any(re.search("(?i)cap(abilitie)?s$", each) for each in names_in(node.value)):
        return ""  # the field of `AgentCapabilities`
    return renaming_of(context, name)


def mocked_method(context: Context, node: cst.Attribute) -> str:
    """Return what to say of `fake.prompt.assert_awaited_once` and the like; "" for another attribute."""
    if not context.uses_acp or not isinstance(node.value, cst.Attribute) or not _MOCKED.fullmatch(node.attr.value):
        return ""
    return renaming_of(context, node.value.attr.value, known=context.resolver.value(node.value.value) is None)


def renaming_of(context: Context, name: str, *, known: bool = False) -> str:
    """Return what to say of the name of a method of the protocol; "" for another name.

    Args:
        context: the file.
        name: the name.
        known: whether it is that of such a method even if other libraries have the same name.
    """
    if name == "ext_method":
        return "`ext_method` is `ext_request`."
    method = next((each[name] for each in context.names.methods.values() if name in each), None)
    renamed = method is not None and method.new != name and (known or name in DISTINCTIVE)
    return f"`{name}` is `{method.new}`." if method is not None and renamed else ""


def check_fake(context: Context, call: cst.Call) -> None:
    """Mark a fake whose methods are keywords: `AsyncMock(new_session=...)`."""
    if context.uses_acp and is_no_model(call):
        for each in arguments(call.args):
            context.todo(renaming_of(context, each, known=True))


def check_faked(context: Context, node: cst.Assign) -> None:
    """Mark a method that is replaced by a fake: `connection.prompt = AsyncMock()`."""
    target = node.targets[0].target
    if context.uses_acp and isinstance(target, cst.Attribute) and m.matches(node.value, _FAKE):
        unknown = context.resolver.value(target.value) is None and not _TASK.search(dotted(target.value))
        context.todo(renaming_of(context, target.attr.value, known=unknown))


def _gone(context: Context, func: cst.Attribute, kind: Kind | None) -> str | None:
    """Return what to say of a call that can't be rewritten; None for another call."""
    name = func.attr.value
    if name == "to_error_obj":
        return "There is no `to_error_obj()`: use `code`, `message` and `data` of the error."
    if m.matches(func.value, m.Call(func=m.Name("super"))) or dotted(func.value) in context.project.classes:
        inherited = any(name in methods for methods in context.names.methods.values())
        return "Pass the request object to the method of the base class." if inherited else ""
    if name in _RAW and isinstance(func.value, cst.Attribute) and func.value.attr.value == "_conn":
        return _CONN
    why = context.names.dead.get(snake(name))
    return f"`{name}` has no counterpart: {why}." if why and (kind is not None or name in _DEAD) else None


def snake(name: str) -> str:
    """Return a name in camel case as it is in snake case."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def _on_connect(context: Context, given: cst.BaseExpression, call: cst.Call) -> cst.Call | None:
    """Return the call that passes what stands in for a connection."""
    cls = _class_of(context, given)
    if cls is None:
        return None
    context.todo(_no_connection(context, cls))
    if not cls.stand_in:
        return None
    remote = context.name("RemoteAgent" if cls.role == "agent" else "RemoteClient")
    as_remote = cst.Call(context.name("cast", "typing"), [cst.Arg(remote), cst.Arg(call.args[0].value)])
    return call.with_changes(args=[call.args[0].with_changes(value=as_remote)])


def _class_of(context: Context, given: cst.BaseExpression) -> HandlerClass | None:
    """Return the class of an agent or a client, which may be in a cast."""
    if isinstance(given, cst.Call) and dotted(given.func).rpartition(".")[2] == "cast" and len(given.args) == 2:
        given = given.args[1].value
    kind = context.resolver.value(given)
    return context.project.classes.get(kind.cls) if kind is not None else None


def _no_connection(context: Context, cls: HandlerClass) -> str:
    """Return what to say of a class that is used as a connection; "" if it and its bases stand in for one."""
    if not cls.stand_in:
        return f"`{cls.name}` is no connection: its methods take one request. Use `connect_in_process`."
    bases = [context.project.classes[each] for each in cls.bases if each in context.project.classes]
    return next((what for each in bases if (what := _no_connection(context, each))), "")


def check_given(context: Context, call: cst.Call) -> None:
    """Mark an agent or a client that is given to a function of the project that takes a connection."""
    wanted = context.project.annotated.connections.get(dotted(call.func).rpartition(".")[2], ())
    for position, each in enumerate(call.args if wanted else ()):
        cls = _class_of(context, each.value) if (each.keyword.value if each.keyword else position) in wanted else None
        context.todo(_no_connection(context, cls) if cls is not None else "")


def _check_order(context: Context, method: Method, call: cst.Call) -> None:
    """Mark a call with positional arguments that mean something else in older versions of `acp`."""
    positional = sum(each.keyword is None for each in call.args)
    if positional >= _REORDERED.get(method.old, positional + 1):
        context.todo("Check which argument is which: older versions of `acp` have another order.")


def _as_named(args: Sequence[cst.Arg], params: Sequence[str]) -> Sequence[str]:
    """Return the parameters in the order of positional arguments, if these are variables with the same names."""
    given = [dotted(each.value).rpartition(".")[2] for each in args if each.keyword is None and not each.star]
    known = len({*given}) == len(given) and {*given} <= {*params}
    return [*given, *(each for each in params if each not in given)] if known else params


def _likely_method(context: Context, func: cst.Attribute, call: cst.Call) -> Method | None:
    """Return the method of the protocol that a call of an unknown object seems to be."""
    name = func.attr.value
    own = {*context.project.own.get(name, ())} - {*context.project.classes}
    if own and is_own(own, dotted(func.value), context.resolver.scopes[-1].cls):
        return None
    guess = context.resolver.guess(func.value)
    if guess is not None and name in context.names.methods[guess.role]:
        return context.names.methods[guess.role][name]
    given = {*arguments(call.args)}
    for methods in context.names.methods.values():
        method = methods.get(name)
        if method is None:
            continue
        if name in DISTINCTIVE or (given & _TELLING and given <= {*method.params}):
            return method
        alike = len(call.args) >= _REQUIRED_BY.get(name, 9) and given <= {*method.params}
        if alike and context.uses_acp and not _TASK.search(dotted(func.value)):
            return method
    return None


def _on_connection(context: Context, method: Method, call: cst.Call, func: cst.Attribute) -> cst.BaseExpression | None:
    typed = permission_arguments(context, method, call)
    params = _as_named(call.args, method.params)
    args = typed or as_keywords(call.args, params)
    if args is None or method.old == "create_elicitation" or any(each.star for each in args):
        context.todo(f"`{method.new}` takes keywords only, and further ones as `meta={{...}}`.")
        return renamed(context, call, func, method)
    if typed is None and params is method.params:
        _check_order(context, method, call)
    known = _known(context, method, args, request_class(context, method))
    if method.old == "set_config_option" and _option_class(arguments(known).get("value")).endswith("Boolean"):
        context.todo('With a bool, add `type="boolean"`.')
    return relist(renamed(context, call, func, method), known)


def _known(context: Context, method: Method, args: Sequence[cst.Arg], cls: str) -> list[cst.Arg]:
    """Return arguments with those that the old SDK puts into `_meta` as `meta`, and with what is required here."""
    cls = f"{cls}ValueId" if method.old == "set_config_option" else cls  # one of a union, whose fields all have
    fields: Any = getattr(getattr(import_module(context.names.profile), cls, None), "model_fields", {})
    required = _REQUIRED.get(method.new, {})
    known: list[cst.Arg] = []
    further: list[cst.Arg] = []
    for each in servers(context, args):
        name = cst.ensure_type(each.keyword, cst.Name).value
        optional = name not in fields or not fields[name].is_required()
        if is_none(each.value) and (optional or name in required):
            continue
        if name not in method.params:
            further.append(each)
            continue
        empty = name in required and gives_none(context, each.value)
        plain = empty or not (optional or name in required)
        value = each.value if plain else left_out(context, each.value, fields.get(name))
        if empty or (name in required and value is not each.value):
            given = cst.Module([]).code_for_node(each.value)
            value = cst.parse_expression(
                f"({given}) or {required[name]}" if " " in given else f"{given} or {required[name]}"
            )
        known.append(each.with_changes(value=value))
    if further:
        known.append(keyword("meta", _mapping(further)))
    for name, text in required.items():
        if name not in arguments(known):
            known.append(keyword(name, cst.parse_expression(text)))
    check_required(context, cls, fields, known)
    return known


def renamed(context: Context, call: cst.Call, func: cst.Attribute, method: Method) -> cst.Call:
    """Return the call of a method with its name here."""
    if not request_class(context, method):
        context.todo(f"`{method.new}` is only in `acp_bindings.v1_unstable`: restore the file and use --unstable.")
    return call.with_changes(func=func.with_changes(attr=cst.Name(method.new)))


def _mapping(args: Sequence[cst.Arg]) -> cst.Dict:
    elements = [
        cst.DictElement(cst.SimpleString(f'"{cst.ensure_type(each.keyword, cst.Name).value}"'), each.value)
        for each in args
    ]
    return cst.Dict(elements)


def _on_handler(
    context: Context, kind: Kind, method: Method, call: cst.Call, func: cst.Attribute
) -> cst.BaseExpression | None:
    params = context.project.method(kind.cls, method.old) or method.params
    typed = permission_arguments(context, method, call)
    args = typed or as_keywords(call.args, params)
    cls = request_class(context, method)
    if method.old == "set_config_option" and args is not None:
        cls = _option_class(arguments(args).get("value"))
    if args is None or not cls or any(each.star for each in args) or method.old == "create_elicitation":
        context.todo(f"`{method.new}` takes one request object.")
        return renamed(context, call, func, method)
    if params is method.params and typed is None:
        _check_order(context, method, call)
    if any(is_no_model(each.value) or dotted(each.value) in context.resolver.scopes[-1].fakes for each in args):
        context.todo(f"`{cls}` checks its values.")
    known = _known(context, method, args, cls)
    built = relist(call.with_changes(func=context.name(cls), lpar=[], rpar=[]), known)
    plain = cst.SimpleWhitespace("")
    return renamed(context, call, func, method).with_changes(args=[cst.Arg(built)], whitespace_before_args=plain)


def _option_class(value: cst.BaseExpression | None) -> str:
    """Return the request that sets an option to a value; "" if it can't be told."""
    if m.matches(value, m.Name("True") | m.Name("False")) if value else False:
        return "SetSessionConfigOptionRequestBoolean"
    return "SetSessionConfigOptionRequestValueId" if isinstance(value, (cst.SimpleString, cst.FormattedString)) else ""


def _extension(context: Context, kind: Kind, call: cst.Call, func: cst.Attribute) -> cst.BaseExpression:
    """Return a call with the whole name of the extension method, which the old SDK makes with an underscore."""
    new = func.with_changes(attr=cst.Name("ext_request")) if func.attr.value == "ext_method" else func
    args = as_keywords(call.args, ("method", "params"))
    if args is None or any(each.star for each in args):
        context.todo("Pass the whole name of the extension method, with its underscore.")
        return call.with_changes(func=new)
    changed = [
        each.with_changes(value=_with_underscore(each.value)) if arguments([each]).keys() == {"method"} else each
        for each in args
    ]
    restored = [
        each.with_changes(keyword=old.keyword, equal=old.equal) for each, old in zip(changed, call.args, strict=True)
    ]
    return call.with_changes(func=new, args=restored)


def _with_underscore(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, cst.SimpleString):
        return node.with_changes(value=f"{node.prefix}{node.quote}_{node.raw_value}{node.quote}")
    return cst.parse_expression(f'f"_{{{cst.Module([]).code_for_node(node)}}}"')
