"""Assignments to fields of models, which can't be changed here."""

from __future__ import annotations

import libcst as cst
from libcst import matchers as m

from acp_migrate.context import Context
from acp_migrate.expressions import keyword

CANT_CHANGE = "Models can't be changed: use `acp_runtime.replace(model, ...)`, or pass this to the constructor."


def assignment(context: Context, original: cst.Assign, node: cst.Assign) -> cst.Assign:
    """Return an assignment that replaces a model by a changed copy, if it sets a field of one.

    Only a model that was made in the same function and is not used elsewhere yet is replaced. Otherwise, what refers to
    it would not see the change.
    """
    if len(node.targets) != 1 or not isinstance(node.targets[0].target, cst.Attribute):
        return node
    old = original.targets[0].target
    steps: list[str] = []
    target: cst.BaseExpression = node.targets[0].target
    while isinstance(target, cst.Attribute):
        steps.insert(0, target.attr.value)
        target = target.value
    root = context.resolver.made_here(target)
    if root is None:
        if context.resolver.is_model(target) or m.matches(old, m.Attribute(attr=m.Name("field_meta"))):
            context.todo(CANT_CHANGE)
        return node
    context.changes += 1
    value = node.value
    for depth in range(len(steps) - 1, -1, -1):
        holder = ".".join([root, *steps[:depth]])
        model = cst.parse_expression(holder)
        value = cst.Call(context.name("replace", "acp_runtime"), [cst.Arg(model), keyword(steps[depth], value)])
    return node.with_changes(targets=[node.targets[0].with_changes(target=cst.Name(root))], value=value)
