"""What the names in a file mean: which of them come from `acp`, and which values are connections or handlers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst
from libcst import matchers as m
from libcst.metadata import QualifiedNameProvider, QualifiedNameSource, ScopeProvider

from acp_kit.migrate.bindings import imported
from acp_kit.migrate.project import ROLES, Kind, Project, dotted

# The classes of connections in `acp`, and whose methods they have.
_CONNECTIONS = {"AgentSideConnection": "client", "ClientSideConnection": "agent", "connect_to_agent": "agent"}


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
    """

    cls: str = ""
    binding: Any = None
    models: set[str] = field(default_factory=set[str])
    held: set[str] = field(default_factory=set[str])
    optional: set[str] = field(default_factory=set[str])
    blocks: set[str] = field(default_factory=set[str])


def is_experimental(path: str) -> bool:
    """Return whether a path of `acp` is one of a draft of the protocol, which has the same names with other meanings."""
    return path.partition(".")[2].partition(".")[0] == "experimental"


class Resolver:
    """Says what the names in a file mean.

    Args:
        module: a visitor or transformer with the metadata of the file.
        project: the handler classes.
    """

    def __init__(self, metadata: cst.MetadataDependent, project: Project) -> None:
        self._metadata = metadata
        self.project = project
        self.scopes = [Scope()]
        self._values: dict[tuple[object, str], Kind] = {}
        self._typed: dict[tuple[object, str], str] = {}
        self.imported: dict[str, str] = {}
        self.functions: dict[str, Kind | tuple[Kind | None, ...]] = {}
        self.attributes = project.attributes

    def acp(self, node: cst.CSTNode) -> str:
        """Return the path of a name that is imported from `acp`, such as `acp.schema.Plan`; "" for another one."""
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return ""
        found: Any = self._metadata.get_metadata(QualifiedNameProvider, node, set())
        found = found() if callable(found) else found
        paths = [each for each in found if each.source is QualifiedNameSource.IMPORT]
        if len(found) != 1 or not paths or paths[0].name.partition(".")[0] != "acp":
            return ""
        path = str(paths[0].name)
        return "" if is_experimental(path) else path

    def name(self, node: cst.CSTNode) -> str:
        """Return the last part of `acp`; "" if a name doesn't come from `acp`."""
        return self.acp(node).rpartition(".")[2]

    def annotated(self, node: cst.BaseExpression | None) -> Kind | None:
        """Return the kind of values with an annotation."""
        if isinstance(node, cst.SimpleString):
            return self.annotated(in_string(node))
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            return self.annotated(node.left) or self.annotated(node.right)
        if isinstance(node, cst.Subscript) and dotted(node.value).endswith("Optional"):
            first = node.slice[0].slice
            return self.annotated(first.value) if isinstance(first, cst.Index) else None
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
        """Return what an expression is."""
        if isinstance(node, cst.Await):
            return self.value(node.expression)
        if isinstance(node, cst.Call):
            return self._call(node)
        if m.matches(node, m.Name("self")):
            return self._class(self.scopes[-1].cls)
        if isinstance(node, cst.Name):
            return self._values.get(self._key(node))
        return self._attribute(node) if isinstance(node, cst.Attribute) else None

    def _call(self, node: cst.Call) -> Kind | None:
        name, called = self.name(node.func), dotted(node.func)
        if name in _CONNECTIONS:
            return Kind(_CONNECTIONS[name])
        made = self.functions.get(called)
        return self._class(called) or (made if isinstance(made, Kind) else None)

    def _attribute(self, node: cst.Attribute) -> Kind | None:
        name = node.attr.value
        if m.matches(node.value, m.Name("self")):
            return self.attributes.get(self.scopes[-1].cls, {}).get(name)
        holder = self.value(node.value)
        return self.attributes.get(holder.cls, {}).get(name) if holder is not None and holder.cls else None

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
        return self._metadata.get_metadata(ScopeProvider, node, None)

    def _key(self, node: cst.Name) -> tuple[object, str]:
        """Return what tells a name from others with the same spelling: the scope that binds it."""
        scope: Any = self.binding(node) or self.scopes[-1].binding  # rewritten code has no metadata
        bound: Any = next(iter(scope[node.value]), None) if scope is not None else None
        return (getattr(bound, "scope", None), node.value)

    def typed(self, node: cst.Name) -> str:
        """Return which parameter of `request_permission` a name holds, by its type; "" if it isn't known."""
        return self._typed.get(self._key(node), "")

    def remember_type(self, target: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
        """Remember the type of a name, from its annotation or from what is assigned."""
        if isinstance(target, cst.Name):
            self._typed[self._key(target)] = self._type(value) if value is not None else ""

    def _type(self, node: cst.BaseExpression) -> str:
        if isinstance(node, (cst.List, cst.ListComp)):
            return "options"
        if isinstance(node, (cst.SimpleString, cst.FormattedString)) or dotted(node) == "str":
            return "session_id"
        called = node.func if isinstance(node, cst.Call) else node
        if self.name(called) == "ToolCallUpdate":
            return "tool_call"
        listed = isinstance(node, cst.Subscript) and dotted(node.value).rpartition(".")[2] in (
            "list",
            "List",
            "Sequence",
        )
        return "options" if listed else ""

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
            if _may_be_none(each):
                scope.optional.add(each.name.value)
            kind = self.annotated(each.annotation.annotation) if each.annotation else None
            self.remember_type(each.name, each.annotation.annotation if each.annotation else None)
            made = self.functions.get(each.name.value)
            kind = kind or (made if isinstance(made, Kind) else None)  # a fixture
            if kind is not None:
                self._values[self._key(each.name)] = kind
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


class Tracking(cst.CSTTransformer):
    """Keeps a resolver up to date while a file is visited."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider, ScopeProvider)

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.resolver = Resolver(self, project)
        self._only_read: set[int] = set()  # names of which an attribute is used, and targets of assignments, by id

    def visit_Module(self, node: cst.Module) -> None:
        """Remember what the file imports."""
        self.resolver.imported = imported(node)
        self.resolver.scopes[0].binding = self.resolver.binding(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Remember that a name is used for an attribute only."""
        self._only_read.add(id(node.value))

    def visit_Name(self, node: cst.Name) -> None:
        """Remember that something else may also refer to a model."""
        if id(node) not in self._only_read:
            self.resolver.hold({node.value})

    def visit_For_body(self, node: cst.For) -> None:
        """Forget what is known of models, because a loop may come back with others."""
        self.resolver.hold()

    def leave_For_body(self, node: cst.For) -> None:
        """Forget what is known of models."""
        self.resolver.hold()

    def visit_While_body(self, node: cst.While) -> None:
        """Forget what is known of models."""
        self.resolver.hold()

    def leave_While_body(self, node: cst.While) -> None:
        """Forget what is known of models."""
        self.resolver.hold()

    def visit_ClassDef(self, node: cst.ClassDef) -> bool | None:
        """Enter a class, whose annotated attributes are known."""
        self.resolver.scopes.append(Scope(node.name.value, self.resolver.binding(node.body)))
        for each in node.body.body:
            if isinstance(each, cst.SimpleStatementLine) and isinstance(each.body[0], cst.AnnAssign):
                target, kind = each.body[0].target, self.resolver.annotated(each.body[0].annotation.annotation)
                if isinstance(target, cst.Name) and kind:
                    self.resolver.attributes.setdefault(node.name.value, {})[target.value] = kind
        return None

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        """Leave a class."""
        self.resolver.scopes.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        """Enter a function."""
        self.resolver.enter_function(node)
        params = node.params
        for each in (*params.posonly_params, *params.params, *params.kwonly_params):
            if each.annotation is not None and self._holds_model(each.annotation.annotation):
                self.resolver.scopes[-1].held.add(each.name.value)
        return None

    def _holds_model(self, node: cst.CSTNode | None) -> bool:
        if isinstance(node, cst.SimpleString):
            node = in_string(node)
        names = m.findall(node, m.Name() | m.Attribute()) if node is not None else ()
        return any(self.is_model(self.resolver.annotation_name(each)) for each in names)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Leave a function."""
        self.resolver.scopes.pop()
        return updated_node

    def visit_Assign(self, node: cst.Assign) -> bool | None:
        """Remember what is assigned."""
        kind: Kind | Sequence[Kind | None] | None = self.resolver.value(node.value)
        if isinstance(node.value, cst.Tuple):
            kind = [self.resolver.value(each.value) for each in node.value.elements]
        elif isinstance(node.value, cst.Call) and dotted(node.value.func) in self.resolver.functions:
            kind = self.resolver.functions[dotted(node.value.func)]
        for each in node.targets:
            self.resolver.assign(each.target, kind)
            self.resolver.remember_type(each.target, node.value)
            self._only_read.add(id(each.target))
            if isinstance(each.target, cst.Name):
                made = isinstance(node.value, cst.Call) and self.is_model(self.resolver.name(node.value.func))
                scope = self.resolver.scopes[-1]
                scope.models.discard(each.target.value)
                scope.held.discard(each.target.value)
                if made:
                    (scope.models if len(node.targets) == 1 else scope.held).add(each.target.value)
                if m.matches(node.value, m.Name("None")):
                    self.resolver.scopes[-1].optional.add(each.target.value)
        return None

    def is_model(self, name: str) -> bool:
        """Return whether a name of `acp` is a model, or a function that makes one."""
        return False

    def visit_AnnAssign(self, node: cst.AnnAssign) -> bool | None:
        """Remember what is assigned."""
        kind = self.resolver.value(node.value) if node.value else None
        kind = kind or self.resolver.annotated(node.annotation.annotation)
        self.resolver.remember_type(node.target, node.annotation.annotation)
        self.resolver.assign(node.target, kind)
        return None

    def visit_For(self, node: cst.For) -> None:
        """Forget what the target of a loop was."""
        self.resolver.assign(node.target, None)

    def visit_WithItem(self, node: cst.WithItem) -> bool | None:
        """Remember what a context manager gives."""
        if node.asname is not None and isinstance(node.item, cst.Call):
            if self.resolver.name(node.item.func) == "spawn_agent_process":
                self.resolver.assign(node.asname.name, [Kind("agent")])
            else:
                self.resolver.assign(node.asname.name, self.resolver.value(node.item))
        return None


class Attributes(Tracking):
    """Finds the attributes and the results of functions of a whole file, before it is rewritten."""

    def visit_Return(self, node: cst.Return) -> bool | None:
        """Remember what a function returns."""
        return None

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Remember what a function returns, if it is a function of the module."""
        returned = [each for each in m.findall(original_node.body, m.Return()) if isinstance(each, cst.Return)]
        value = returned[-1].value if returned else None
        if len(self.resolver.scopes) == 2 and value is not None:
            kinds: Kind | tuple[Kind | None, ...] | None = self.resolver.value(value)
            if isinstance(value, cst.Tuple):
                kinds = tuple(self.resolver.value(each.value) for each in value.elements)
            if kinds:
                self.resolver.functions[original_node.name.value] = kinds
        return super().leave_FunctionDef(original_node, updated_node)


def in_string(node: cst.SimpleString) -> cst.BaseExpression | None:
    """Return the expression in a string that is an annotation; None if there is none."""
    text = node.evaluated_value
    try:
        return cst.parse_expression(text) if isinstance(text, str) else None
    except cst.ParserSyntaxError:
        return None


def _may_be_none(param: cst.Param) -> bool:
    """Return whether a parameter is declared to accept None."""
    if param.default is not None and m.matches(param.default, m.Name("None")):
        return True
    return param.annotation is not None and bool(
        m.findall(param.annotation, m.Name("None")) and isinstance(param.annotation.annotation, cst.BinaryOperation)
    )
