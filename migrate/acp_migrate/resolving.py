"""What the names in a file mean: which of them come from `acp`, and which values are connections or handlers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst
from libcst import matchers as m
from libcst.metadata import QualifiedName, QualifiedNameSource

from acp_migrate.project import Kind, Project
from acp_migrate.reading import ROLES
from acp_migrate.scopes import Scopes
from acp_migrate.syntax import accepts_none, dotted, in_string, may_be_none

# The classes of connections in `acp`, and whose methods they have.
_CONNECTIONS = {"AgentSideConnection": "client", "ClientSideConnection": "agent", "connect_to_agent": "agent"}


# Types that are what they are made of, and those of which nothing comes out as it is.
_PLAIN = ("Optional", "Annotated", "ClassVar", "Final", "Union", "Awaitable")
_OTHER = ("Callable", "type", "Type", "tuple", "Tuple")
_GETTERS = ("get", "pop", "setdefault", "popleft")


def _around(kind: Kind | None, more: int) -> Kind | None:
    """Return what a container of values is, or with -1 what its values are."""
    return replace(kind, depth=kind.depth + more) if kind is not None and kind.depth + more >= 0 else None


@dataclass
class Facts:
    """What a first visit of a whole file finds, and rewriting it needs.

    Attributes:
        functions: what the functions of the module return.
        returned: whose methods the connections have that a function returns, by the id of the function.
        lists: for each list display that is assigned to a name, whether it has models.
    """

    functions: dict[str, Kind | tuple[Kind | None, ...]] = field(default_factory=dict[str, Any])
    returned: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    lists: dict[tuple[object, str], list[bool]] = field(default_factory=dict[Any, list[bool]])


@dataclass
class Scope:
    """What the names of a function or a module hold, and the class in which it is.

    Attributes:
        cls: the class.
        binding: what binds its names.
        models: the names of models that were made there, and that nothing else refers to yet.
        held: the names of other models.
        optional: the names of what may be None.
        blocks: the names of connections that are open in an `async with` block.
        fakes: the names of what tests pass in place of models.
    """

    cls: str = ""
    binding: Any = None
    models: set[str] = field(default_factory=set[str])
    held: set[str] = field(default_factory=set[str])
    optional: set[str] = field(default_factory=set[str])
    blocks: set[str] = field(default_factory=set[str])
    fakes: set[str] = field(default_factory=set[str])


def permission_parameter(resolver: Resolver, node: cst.BaseExpression) -> str:
    """Return for which parameter of `request_permission` a value or its type is; "" if it can't be told."""
    if isinstance(node, (cst.List, cst.ListComp)):
        return "options"
    if isinstance(node, (cst.SimpleString, cst.FormattedString)) or dotted(node) == "str":
        return "session_id"
    called = node.func if isinstance(node, cst.Call) else node
    if resolver.name(called) in ("ToolCall", "ToolCallUpdate"):
        return "tool_call"
    kind = dotted(called.value if isinstance(called, cst.Subscript) else called).rpartition(".")[2]
    return "options" if kind in ("list", "List", "Sequence", "default_permission_options") else ""


def is_experimental(path: str) -> bool:
    """Return whether a path of `acp` is one of a draft of the protocol, whose names mean something else."""
    return path.partition(".")[2].partition(".")[0] == "experimental"


class Resolver:
    """Says what the names in a file mean.

    Args:
        scopes: the file.
        project: the handler classes.
    """

    def __init__(self, scopes: Scopes, project: Project) -> None:
        self._scopes = scopes
        self.project = project
        self.scopes = [Scope()]
        self._values: dict[tuple[object, str], Kind] = {}
        self._typed: dict[tuple[object, str], str] = {}
        self._tuples: dict[tuple[object, str], list[Kind | None]] = {}
        self._classes: dict[tuple[object, str], str] = {}  # of the project, that are neither agents nor clients
        self.imported: dict[str, str] = {}
        self.facts = Facts()
        self.attributes = project.attributes

    def acp(self, node: cst.CSTNode) -> str:
        """Return the path of a name that is imported from `acp`, such as `acp.schema.Plan`; "" for another one."""
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return ""
        found = self._qualified(node)
        if not found and isinstance(node, cst.Name):  # through `import *`
            return self.project.provided.get(node.value, "")
        path = next((each.name for each in found if each.source is QualifiedNameSource.IMPORT), "")
        if len(found) != 1 or not path:
            return ""
        root = path.lstrip(".").partition(".")[0]
        if root != "acp" and (root in self.project.roots or path.startswith(".")):
            module, _, name = path.rpartition(".")
            path = self.project.exports.of(module.rpartition(".")[2], name)
        return path if path.partition(".")[0] == "acp" and not is_experimental(path) else ""

    def _qualified(self, node: cst.CSTNode) -> Collection[QualifiedName]:
        """Return what a name may be."""
        scope = self._scopes.of(node)
        return () if scope is None else scope.get_qualified_names_for(node)

    def module(self, node: cst.BaseExpression) -> str:
        """Return the last part of the name of the module that an expression seems to be."""
        paths = [each.name for each in self._qualified(node)]
        return (paths[0] if len(paths) == 1 else dotted(node)).rpartition(".")[2]

    def is_passed_on(self, node: cst.CSTNode) -> bool:
        """Return whether a name of `acp` comes from a file of the project, which keeps it."""
        return not any(each.name.partition(".")[0] == "acp" for each in self._qualified(node))

    def name(self, node: cst.CSTNode) -> str:
        """Return the last part of `acp`; "" if a name doesn't come from `acp`."""
        return self.acp(node).rpartition(".")[2]

    def annotated(self, node: cst.BaseExpression | None) -> Kind | None:
        """Return the kind of values with an annotation."""
        if isinstance(node, cst.SimpleString):
            return self.annotated(in_string(node))
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            return self.annotated(node.left) or self.annotated(node.right)
        if isinstance(node, cst.Subscript):
            last = dotted(node.value).rpartition(".")[2]
            kinds = [self.annotated(each.slice.value) for each in node.slice if isinstance(each.slice, cst.Index)]
            kind = next(filter(None, kinds), None)
            return kind if last in _PLAIN or kind is None else None if last in _OTHER else _around(kind, 1)
        if node is None:
            return None
        name = self.annotation_name(node)
        if name in ROLES:
            return Kind(ROLES[name])
        return Kind(_CONNECTIONS[name]) if name in _CONNECTIONS else self._class(dotted(node))

    def annotation_name(self, node: cst.CSTNode) -> str:
        """Return the last part of a name of `acp` in an annotation, which may come from a string; "" if it is none."""
        path = self.imported.get(dotted(node), "")
        return self.name(node) or (path.rpartition(".")[2] if path.startswith("acp.") else "")

    def value(self, node: cst.BaseExpression) -> Kind | None:
        """Return what an expression is; None for a container."""
        kind = self.held(node)
        return kind if kind is not None and not kind.depth else None

    def held(self, node: cst.BaseExpression) -> Kind | None:
        """Return what an expression is or contains."""
        if isinstance(node, cst.Await):
            return self.held(node.expression)
        if isinstance(node, cst.Call):
            return self._call(node)
        if isinstance(node, cst.Subscript):
            return _around(self.held(node.value), -1)
        if m.matches(node, m.Name("self")):
            return self._class(self.scopes[-1].cls)
        if isinstance(node, cst.Name):
            return self._values.get(self._key(node))
        return self._attribute(node) if isinstance(node, cst.Attribute) else None

    def parts(self, node: cst.BaseExpression) -> Sequence[Kind | None] | None:
        """Return what the parts of a tuple are; None if an expression is no tuple that is known."""
        if isinstance(node, cst.Await):
            return self.parts(node.expression)
        if isinstance(node, cst.Tuple):
            return [self.held(each.value) for each in node.elements]
        if isinstance(node, cst.Name):
            return self._tuples.get(self._key(node))
        if not isinstance(node, cst.Call):
            return None
        if (inner := _entered(node)) is not None:
            return [Kind("agent"), None] if self._spawns(inner) else self.parts(inner)
        made = self._returned(node.func)
        return made if isinstance(made, tuple) else None

    def _spawns(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and self.name(node.func) == "spawn_agent_process"

    def entered(self, node: cst.BaseExpression) -> Kind | Sequence[Kind | None] | None:
        """Return what a context manager gives."""
        if self._spawns(node):
            return [Kind("agent")]
        kind = self.held(node)
        return _around(kind, -1) if kind is not None and kind.depth else kind

    def items(self, node: cst.BaseExpression) -> Kind | Sequence[Kind | None] | None:
        """Return what a loop over a value gives."""
        if m.matches(node, m.Call(m.Attribute(attr=m.Name("items")), [])):
            func = cst.ensure_type(cst.ensure_type(node, cst.Call).func, cst.Attribute)
            return [None, _around(self.held(func.value), -1)]
        return _around(self.held(node), -1)

    def written_parts(self, annotation: cst.BaseExpression) -> list[Kind | None]:
        """Return what the parts of a tuple with an annotation are."""
        if not isinstance(annotation, cst.Subscript) or dotted(annotation.value).rpartition(".")[2].lower() != "tuple":
            return []
        found = [each.slice.value for each in annotation.slice if isinstance(each.slice, cst.Index)]
        return [self.annotated(each) for each in found]

    def _call(self, node: cst.Call) -> Kind | None:
        name = self.name(node.func)
        if name in _CONNECTIONS:
            return Kind(_CONNECTIONS[name])
        if (inner := _entered(node)) is not None:
            kind = self.entered(inner)
            return kind if isinstance(kind, Kind) else None
        if isinstance(node.func, cst.Attribute) and (holder := self.held(node.func.value)) and holder.depth:
            attribute = node.func.attr.value
            return _around(holder, -1) if attribute in _GETTERS else holder if attribute == "values" else None
        made = self._returned(node.func)
        return self._class(dotted(node.func)) or (made if isinstance(made, Kind) else None)

    def _returned(self, func: cst.BaseExpression) -> Kind | tuple[Kind | None, ...] | None:
        """Return what a function or a method returns."""
        if isinstance(func, cst.Attribute):
            return self.attributes.get(self._class_of(func.value), {}).get(f"{func.attr.value}()")
        return self.facts.functions.get(dotted(func))

    def _attribute(self, node: cst.Attribute) -> Kind | None:
        return self.attributes.get(self._class_of(node.value), {}).get(node.attr.value)

    def _class_of(self, node: cst.BaseExpression) -> str:
        """Return the class of the project of which an expression is an instance; "" if it isn't known."""
        if m.matches(node, m.Name("self")):
            return self.scopes[-1].cls
        holder = self.value(node)
        return (
            holder.cls
            if holder is not None
            else self._classes.get(self._key(node), "")
            if isinstance(node, cst.Name)
            else ""
        )

    def guess(self, node: cst.BaseExpression) -> Kind | None:
        """Return what an attribute of an unknown object is likely to be, because classes have one with its name."""
        if not isinstance(node, cst.Attribute):
            return None
        known = {each[node.attr.value] for each in self.attributes.values() if node.attr.value in each}
        return known.pop() if len(known) == 1 else None

    def _class(self, path: str) -> Kind | None:
        root, name = path.partition(".")[0], path.rpartition(".")[2]
        found = None if root in self.project.foreign else self.project.classes.get(name)
        return Kind(found.role, name) if found else None

    def binding(self, node: cst.CSTNode) -> Any:
        """Return the scope of a piece of code, in which its names are bound."""
        return self._scopes.of(node)

    def _key(self, node: cst.Name) -> tuple[object, str]:
        """Return what tells a name from others with the same spelling: the scope that binds it."""
        scope: Any = self.binding(node) or self.scopes[-1].binding  # rewritten code has none
        bound: Any = next(iter(scope[node.value]), None) if scope is not None else None
        return (getattr(bound, "scope", None), node.value)

    def typed(self, node: cst.Name) -> str:
        """Return which parameter of `request_permission` a name holds, by its type; "" if it isn't known."""
        return self._typed.get(self._key(node), "")

    def is_list_of_models(self, node: cst.BaseExpression) -> bool:
        """Return whether a name is only ever set to lists that are written there, some of them with models."""
        if not isinstance(node, cst.Name):
            return False
        scope: Any = self.binding(node) or self.scopes[-1].binding
        found = self.facts.lists.get(self._key(node), [])
        return scope is not None and any(found) and len(found) == len([*scope[node.value]])

    def remember_list(self, target: cst.BaseExpression, *, models: bool) -> None:
        """Remember that a name is set to a list."""
        if isinstance(target, cst.Name):
            self.facts.lists.setdefault(self._key(target), []).append(models)

    def remember_type(self, target: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
        """Remember the type of a name, from its annotation or from what is assigned."""
        if isinstance(target, cst.Name):
            self._typed[self._key(target)] = permission_parameter(self, value) if value is not None else ""
            cls = dotted(value.func if isinstance(value, cst.Call) else value).rpartition(".")[2]
            self._classes[self._key(target)] = cls if cls in self.attributes else ""

    def made_here(self, node: cst.BaseExpression) -> str | None:
        """Return the name of a model that the current function has made."""
        return node.value if isinstance(node, cst.Name) and node.value in self.scopes[-1].models else None

    def is_model(self, node: cst.CSTNode) -> bool:
        """Return whether a name is known to hold a model."""
        scope = self.scopes[-1]
        return isinstance(node, cst.Name) and node.value in scope.models | scope.held

    def hold(self, names: set[str] | None = None) -> None:
        """Remember that something else may also refer to models: to those with some names, or to all."""
        for each in self.scopes if names else self.scopes[-1:]:
            shared = each.models if names is None else each.models & names
            each.held |= shared
            each.models -= shared

    def enter_function(self, node: cst.FunctionDef | cst.Lambda) -> None:
        """Remember what the parameters of a function are."""
        scope = Scope(self.scopes[-1].cls, self.binding(node.body))
        params = node.params
        for each in (*params.posonly_params, *params.params, *params.kwonly_params):
            declared = each.annotation is not None and accepts_none(each.annotation.annotation)
            if declared or (each.default is not None and may_be_none(each.default)):
                scope.optional.add(each.name.value)
            kind = self.annotated(each.annotation.annotation) if each.annotation else None
            self.remember_type(each.name, each.annotation.annotation if each.annotation else None)
            made = self.facts.functions.get(each.name.value)
            kind = kind or (made if isinstance(made, Kind) else None)  # a fixture
            if kind is not None:
                self._values[self._key(each.name)] = kind
            if each.annotation and (kinds := self.written_parts(each.annotation.annotation)):
                self._tuples[self._key(each.name)] = kinds
        self.scopes.append(scope)

    def assign(self, target: cst.BaseExpression, kind: Kind | Sequence[Kind | None] | None) -> None:
        """Remember what a name or an attribute of `self` is."""
        if isinstance(target, (cst.Tuple, cst.List)):
            kinds = kind if isinstance(kind, Sequence) else ()
            for each, one in zip(target.elements, kinds, strict=False):
                self.assign(each.value, one)
        elif not isinstance(kind, Kind):
            if isinstance(target, cst.Name):
                self._values.pop(self._key(target), None)
        elif isinstance(target, cst.Name):
            self._values[self._key(target)] = kind
        elif isinstance(target, cst.Attribute) and m.matches(target.value, m.Name("self")):
            self.attributes.setdefault(self.scopes[-1].cls, {})[target.attr.value] = kind


def _entered(node: cst.Call) -> cst.BaseExpression | None:
    """Return what `stack.enter_async_context(...)` enters; None for another call."""
    entering = dotted(node.func).endswith(".enter_async_context") and len(node.args) == 1
    return node.args[0].value if entering else None
