"""Strings that name something of `acp`: modules to load, attributes to replace, and types."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from acp_migrate.calls import renaming_of
from acp_migrate.context import Context
from acp_migrate.expressions import arguments
from acp_migrate.syntax import dotted

_LOADERS = ("import_module", "__import__", "importorskip", "find_spec", "patch", "setattr", "delattr")
_NAMERS = ("parametrize", "methodcaller", "attrgetter", "create_autospec")
_SETTERS = ("setattr", "getattr", "hasattr", "delattr", "object")


def check_attribute(context: Context, node: cst.Call) -> None:
    """Mark what sets or gets a name of `acp` in a module of the project: `setattr(server, "text_block", ...)`."""
    if dotted(node.func).rpartition(".")[2] not in _SETTERS or len(node.args) < 2:
        return
    module, name = node.args[0].value, node.args[1].value
    if not isinstance(name, cst.SimpleString) and context.resolver.value(module) is not None:
        context.todo("Methods have other names here: `session_new` in place of `new_session`.")
    text = name.evaluated_value if isinstance(name, cst.SimpleString) else None
    old = context.project.exports.of(context.resolver.module(module), text) if isinstance(text, str) else ""
    if isinstance(text, str):
        context.todo(renaming_of(context, text, known=context.resolver.value(module) is not None))
    if old and isinstance(text, str) and context.names.is_renamed(old):
        context.todo(f"This names `{text}` in a string.")


def check_text(context: Context, text: str, *, loading: bool, method: bool) -> None:
    """Mark a string that is the path of a name of `acp`, such as that of `mock.patch`.

    Args:
        context: the file.
        text: the string.
        loading: whether the string is the name of a module.
        method: whether it may be the name of a method.
    """
    uses_acp = context.uses_acp
    if method and uses_acp:
        context.todo(renaming_of(context, text, known=True))
    names, (module, _, name) = context.names, text.rpartition(".")
    old = context.project.exports.of(module.rpartition(".")[2], name)
    if text == "field_meta" and uses_acp:
        context.todo("`field_meta` is `meta`.")
    known = text.startswith("acp.") and names.find(name) is not None
    loaded = loading and text.partition(".")[0] == "acp"
    compared = uses_acp and names.is_other_model(text) and text not in context.exported
    if known or loaded or compared or (old and names.is_renamed(old)):
        context.todo(f"This names `{text}` in a string.")


def names_methods(node: cst.Call) -> bool:
    """Return whether the strings in a call may be names of methods, as in `parametrize` and `methodcaller`."""
    name = dotted(node.func).rpartition(".")[2]
    return name in _NAMERS or any(each in ("spec", "spec_set") for each in arguments(node.args))


def in_modules(node: cst.Comparison) -> bool:
    """Return whether a comparison asks which modules are loaded."""
    return any(dotted(each.comparator) == "sys.modules" for each in node.comparisons)


def loads(node: cst.Call) -> bool:
    """Return whether a function imports a module by its name, or replaces it in a test."""
    uses_modules = dotted(node.func).startswith("sys.modules.") or any(
        dotted(each.value) == "sys.modules" for each in node.args
    )
    return uses_modules or dotted(node.func).rpartition(".")[2] in _LOADERS


class InString(cst.CSTTransformer):
    """Replaces names in an expression that was parsed from a string, so that nothing is known of its scopes."""

    def __init__(self, named: Callable[[str], cst.BaseExpression | None]) -> None:
        super().__init__()
        self._named = named

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return False

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return self._named(dotted(original_node)) or updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._named(original_node.value) or updated_node
