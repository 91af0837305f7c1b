"""Calls of helper functions, and constructors of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, get_args

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context
from acp_migrate.names import UNSTABLE, Helper, Target
from acp_migrate.nones import gives_none, left_out
from acp_migrate.syntax import names_in

_NOTHING = cst.SimpleWhitespace("")
_EQUAL = cst.AssignEqual(_NOTHING, _NOTHING)


def keyword(name: str, value: cst.BaseExpression) -> cst.Arg:
    """Return the argument `name=value`."""
    return cst.Arg(value, cst.Name(name), equal=_EQUAL)


def as_keywords(args: Sequence[cst.Arg], params: Sequence[str]) -> list[cst.Arg] | None:
    """Return arguments as keywords, in the order in which they were written.

    Args:
        args: the arguments of a call. `**mapping` stays as it is.
        params: the names of the positional parameters.

    Returns:
        None if that isn't possible: there is a `*sequence`, or more arguments than parameters.
    """
    found: list[cst.Arg] = []
    for position, each in enumerate(args):
        if each.star == "*" or (not each.star and each.keyword is None and position >= len(params)):
            return None
        found.append(
            each if each.keyword or each.star else each.with_changes(keyword=cst.Name(params[position]), equal=_EQUAL)
        )
    return found


def arguments(args: Sequence[cst.Arg]) -> dict[str, cst.BaseExpression]:
    """Return keyword arguments by their names."""
    return {each.keyword.value: each.value for each in args if each.keyword}


def is_none(node: cst.BaseExpression) -> bool:
    """Return whether an expression is `None`."""
    return m.matches(node, m.Name("None"))


def helper_call(context: Context, helper: Helper, call: cst.Call) -> cst.BaseExpression | None:
    """Return the expression that replaces a call of a helper function; None if the call is too unusual."""
    args = as_keywords(call.args, helper.params)
    if args is None or any(each.star for each in args):
        return None
    given = {name: value for name, value in arguments(args).items() if not is_none(value)}
    template = cst.ensure_type(cst.parse_expression(helper.expression), cst.Call)
    defaults = {name: cst.parse_expression(text) for name, text in helper.defaults.items()}
    repeated = {
        name for name in given if helper.expression.count(f"=_{name}") + helper.expression.count(f": _{name}") > 1
    }
    if any(not m.matches(given[name], m.Name() | m.Attribute() | m.SimpleString()) for name in repeated):
        return None
    name = cst.ensure_type(template.func, cst.Name).value
    written: list[cst.Arg] = []
    for arg in template.args:
        if arg.star:
            named = {each.removeprefix("_") for each in _placeholders(template)}
            written += [keyword(name, value) for name, value in given.items() if name not in named]
            continue
        if (value := _fill(context, arg.value, {**defaults, **given})) is not None:
            written.append(keyword(cst.ensure_type(arg.keyword, cst.Name).value, value))
    cls = getattr(import_module(context.names.profile), name)
    written = [each.with_changes(value=_as_list(context, cls, each)) for each in written]
    laid_out = _like(call, written) if len(written) == len(call.args) else written
    new = call.with_changes(func=context.name(name), args=laid_out)
    new = new if len(written) == len(call.args) else _on_lines(call, new, written)
    return constructor(context, new, cls)


def _as_list(context: Context, cls: Any, arg: cst.Arg) -> cst.BaseExpression:
    """Return an argument as the list that a constructor takes, where the helper function takes any sequence.

    For a type checker, a list of one member of a union is no list of the union, but `[*value]` is.
    """
    value = arg.value
    if m.matches(value, m.List([m.StarredElement(m.List() | m.ListComp() | m.GeneratorExp())])):
        inner = cst.ensure_type(cst.ensure_type(value, cst.List).elements[0], cst.StarredElement).value
        if isinstance(inner, cst.GeneratorExp):
            return cst.ListComp(inner.elt, inner.for_in)
        return inner
    field = cls.model_fields.get(arg.keyword.value) if arg.keyword else None
    of_union = field is not None and any(not hasattr(each, "model_fields") for each in get_args(field.annotation))
    if of_union and context.resolver.is_list_of_models(value):
        return cst.List([cst.StarredElement(value)])
    return value


def _placeholders(template: cst.CSTNode) -> list[str]:
    return [each for each in names_in(template) if each.startswith("_") and len(each) > 1]


def _fill(
    context: Context, node: cst.BaseExpression, given: Mapping[str, cst.BaseExpression]
) -> cst.BaseExpression | None:
    """Replace the placeholders in an expression; None if an argument for it wasn't passed."""
    if any(each.removeprefix("_") not in given for each in _placeholders(node)):
        return None
    filled = node.visit(_Filling(context, given))
    assert isinstance(filled, cst.BaseExpression)
    return filled


class _Filling(cst.CSTTransformer):
    def __init__(self, context: Context, given: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._context = context
        self._given = given

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        name = original_node.value
        if name.startswith("_"):
            return self._given[name.removeprefix("_")]
        return self._context.name(name) if name[0].isupper() and name not in ("None", "True", "False") else updated_node


def _like(call: cst.Call, args: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Return arguments that are separated like those of a call."""
    return [
        new.with_changes(comma=old.comma, whitespace_after_arg=old.whitespace_after_arg)
        for new, old in zip(args, call.args, strict=True)
    ]


def _on_lines(call: cst.Call, new: cst.Call, args: Sequence[cst.Arg]) -> cst.Call:
    """Return a call with other arguments, one a line if the old call was so."""
    if not args or not isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        plain = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=_NOTHING) for each in args]
        return new.with_changes(args=plain, whitespace_before_args=_NOTHING)
    first, last = call.args[0].comma, call.args[-1].comma
    between = first if len(call.args) > 1 else cst.Comma(whitespace_after=call.whitespace_before_args)
    return new.with_changes(
        args=[
            *(each.with_changes(comma=between) for each in args[:-1]),
            args[-1].with_changes(comma=last, whitespace_after_arg=call.args[-1].whitespace_after_arg),
        ]
    )


def relist(call: cst.Call, args: Sequence[cst.Arg]) -> cst.Call:
    """Return a call with other arguments, laid out as it was."""
    if len(args) == len(call.args):
        return call.with_changes(args=_like(call, args))
    if m.findall(call, m.Comment()) and {*map(_written_name, args)} <= {*map(_written_name, call.args)}:
        return call.with_changes(args=args)  # each with the comment behind it
    return _on_lines(call, call, args)


def _written_name(arg: cst.Arg) -> str:
    return arg.keyword.value if arg.keyword else ""


def model_class(target: Target) -> Any:
    """Return the model that a target is; None if it is something else."""
    found = getattr(import_module(target.module), target.name, None)
    return found if hasattr(found, "model_fields") else None


def constructor(context: Context, call: cst.Call, cls: Any) -> cst.Call:
    """Return the call of a constructor without what is the default here, and with the names of fields."""
    fields: Mapping[str, Any] = cls.model_fields
    by_alias = {each.alias: name for name, each in fields.items() if each.alias}
    args: list[cst.Arg] = []
    for each in call.args:
        name = each.keyword.value if each.keyword else ""
        name = "meta" if name == "field_meta" else name if name in fields else by_alias.get(name, name)
        if is_none(each.value) and name in context.names.fields and name not in fields:
            continue  # the old SDK doesn't send it
        if (problem := _refused(context, cls, name, each)) is not None:
            context.todo(problem)
        if name in fields and _superfluous(fields[name], each.value):
            continue
        optional = name in fields and not fields[name].is_required()
        arg = each.with_changes(value=left_out(context, each.value, fields[name])) if optional else each
        args.append(arg.with_changes(keyword=cst.Name(name)) if each.keyword else arg)
    check_required(context, cls.__name__, fields, args)
    return relist(call, args)


def check_required(context: Context, cls: str, fields: Mapping[str, Any], args: Sequence[cst.Arg]) -> None:
    """Mark the arguments of a model that lack a required field, or give None for it."""
    given = arguments(args)
    for name, field in fields.items():
        choices = get_args(field.annotation)
        if not field.is_required() or (len(choices) == 1 and isinstance(choices[0], str)):
            continue  # a tag has only one value, which the constructor sets
        if name in given and is_none(given[name]) and type(None) not in choices:
            context.todo(f"`{name}` of `{cls}` can't be None.")
        elif name in given and (function := gives_none(context, given[name])) and type(None) not in choices:
            context.todo(f"`{function}` may return None, which `{name}` of `{cls}` can't be.")
        elif name not in given and all(each.keyword for each in args):
            context.todo(f"`{cls}` requires `{name}`.")


def _refused(context: Context, cls: Any, name: str, arg: cst.Arg) -> str | None:
    """Return why a constructor refuses an argument that the old SDK takes; None if it doesn't."""
    if arg.star:
        keys = (
            [each.key for each in arg.value.elements if isinstance(each, cst.DictElement)]
            if isinstance(arg.value, cst.Dict)
            else []
        )
        plain = isinstance(arg.value, cst.Dict) and len(keys) == len(arg.value.elements)
        names = [each.raw_value if isinstance(each, cst.SimpleString) else "" for each in keys]
        return (
            None
            if plain and {*names} <= {*cls.model_fields}
            else f"The constructor takes names of fields. For JSON: `{cls.__name__}.model_validate(...)`."
        )
    if not name:
        return f"`{cls.__name__}` takes keywords only."
    if name not in cls.model_fields:
        if name in context.names.fields:
            return f"`{cls.__name__}` has no field `{name}`: {context.names.fields[name]}."
        unstable: Any = getattr(import_module(UNSTABLE), cls.__name__, cls)
        if name in unstable.model_fields:
            return f"`{cls.__name__}` has `{name}` only in `{UNSTABLE}`: restore the file and use --unstable."
        return f"`{cls.__name__}` has no field `{name}`."
    values = [each.value for each in arg.value.elements] if isinstance(arg.value, cst.List) else [arg.value]
    models = _models(cls.model_fields[name].annotation)
    if any(isinstance(each, cst.Dict) for each in values) and models:
        return f"`{name}` takes instances of models, not dicts: `{'`, `'.join(models)}`."
    return None


def _models(annotation: Any) -> list[str]:
    """Return the names of the models in an annotation."""
    if hasattr(annotation, "model_fields"):
        return [annotation.__name__]
    return [name for each in get_args(annotation) for name in _models(each)]


def _superfluous(field: Any, value: cst.BaseExpression) -> bool:
    """Whether an argument is a tag, which has its only value by default, or is `None` for an optional field.

    The old SDK never sends what is None, which is the same as leaving it out here.
    """
    if is_none(value):
        return not field.is_required()
    return isinstance(value, cst.SimpleString) and get_args(field.annotation) == (value.evaluated_value,)


def error(context: Context, old: str, call: cst.Call) -> cst.BaseExpression:
    """Return the constructor of an error in place of a class method of RequestError."""
    name = context.names.errors[old]
    func = context.name(name, "acp_runtime")
    if name == "MethodNotFound" or not call.args:
        return call.with_changes(func=func)
    if len(call.args) > 1 or call.args[0].star:
        context.todo(f"`{name}` takes `data=...`.")
        return call.with_changes(func=func)
    value = call.args[0].value
    if name == "ResourceNotFound":
        value = cst.Dict([cst.DictElement(cst.SimpleString('"uri"'), value)])
    return call.with_changes(
        func=func,
        args=[
            call.args[0].with_changes(
                value=value,
                keyword=cst.Name("data"),
                equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
            )
        ],
    )
