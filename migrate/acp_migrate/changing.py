"""Assignments to fields of models, which can't be changed here."""

from __future__ import annotations

from functools import cache
from importlib import import_module

import libcst as cst

from acp_migrate.calls import check_faked
from acp_migrate.context import Context
from acp_migrate.expressions import keyword
from acp_migrate.syntax import dotted

CANT_CHANGE = "Models can't be changed: use `acp_runtime.replace(model, ...)`, or pass this to the constructor."


def assignment(context: Context, original: cst.Assign, node: cst.Assign) -> cst.Assign:
    """Return an assignment that replaces a model by a changed copy, if it sets a field of one.

    Only a model that was made in the same function and is not used elsewhere yet is replaced. Otherwise, what refers to
    it would not see the change.
    """
    if len(node.targets) != 1 or not isinstance(node.targets[0].target, cst.Attribute):
        return node
    old = original.targets[0].target
    check_faked(context, original)
    steps: list[str] = []
    target: cst.BaseExpression = node.targets[0].target
    while isinstance(target, cst.Attribute):
        steps.insert(0, target.attr.value)
        target = target.value
    root = context.resolver.made_here(target)
    if root is None:
        if context.resolver.is_model(target) or _is_field(context, old):
            context.todo(CANT_CHANGE)
        return node
    context.changes += 1
    value = node.value
    for depth in range(len(steps) - 1, -1, -1):
        holder = ".".join([root, *steps[:depth]])
        model = cst.parse_expression(holder)
        value = cst.Call(context.name("replace", "acp_runtime"), [cst.Arg(model), keyword(steps[depth], value)])
    return node.with_changes(targets=[node.targets[0].with_changes(target=cst.Name(root))], value=value)


def _is_field(context: Context, node: cst.BaseExpression) -> bool:
    """Return whether an attribute has the name of a field, of several words, and the project has none of this name."""
    holder, _, name = dotted(node).rpartition(".")
    if name == "field_meta" or "_" not in name or name in context.project.fields or holder == "self":
        return name == "field_meta"
    return context.uses_acp and name in fields(context.names.profile)


@cache
def fields(profile: str) -> set[str]:
    """Return the names of the fields of all models."""
    module = import_module(profile)
    return {field for name in module.__all__ for field in getattr(getattr(module, name), "model_fields", ())}
