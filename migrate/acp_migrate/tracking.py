"""Keeps what is known of the names in a file up to date while it is visited."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from acp_migrate.bindings import imported
from acp_migrate.project import Kind, Project
from acp_migrate.resolving import Resolver, Scope
from acp_migrate.scopes import Scopes
from acp_migrate.syntax import accepts_none, dotted, in_string, is_no_model, may_be_none, simple_statements, walk


class Tracking(cst.CSTTransformer):
    """Keeps a resolver up to date while a file is visited."""

    def __init__(self, scopes: Scopes, project: Project) -> None:
        super().__init__()
        self.resolver = Resolver(scopes, project)
        self._only_read: set[int] = set()  # names of which an attribute is used, and targets of assignments, by id
        self.others: set[str] = set()  # names of which it was asked whether they hold something else than a model

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

    def visit_Call(self, node: cst.Call) -> bool | None:
        """Remember that a name holds a model if it is asked so."""
        asks = dotted(node.func) == "isinstance" and len(node.args) == 2 and isinstance(node.args[0].value, cst.Name)
        if asks and any(self.is_model(self.resolver.name(each)) for each in walk(node.args[1].value)):
            self.resolver.scopes[-1].held.add(dotted(node.args[0].value))
        elif asks:
            self.others.add(dotted(node.args[0].value))
        return None

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
        return node is not None and any(self.is_model(self.resolver.annotation_name(each)) for each in walk(node))

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Leave a function."""
        self.resolver.scopes.pop()
        return updated_node

    def visit_Assign(self, node: cst.Assign) -> bool | None:
        """Remember what is assigned."""
        kind: Kind | Sequence[Kind | None] | None = self.resolver.parts(node.value) or self.resolver.held(node.value)
        for each in node.targets:
            self.resolver.assign(each.target, kind)
            self.resolver.remember_type(each.target, node.value)
            self._only_read.add(id(each.target))
            if isinstance(each.target, cst.Name):
                made = isinstance(node.value, cst.Call) and self.is_model(self.resolver.name(node.value.func))
                scope = self.resolver.scopes[-1]
                scope.models.discard(each.target.value)
                scope.held.discard(each.target.value)
                (scope.fakes.add if is_no_model(node.value) else scope.fakes.discard)(each.target.value)
                if made:
                    (scope.models if len(node.targets) == 1 else scope.held).add(each.target.value)
                annotated, called = self.resolver.project.annotated, self._function_of(node.value)
                if called in annotated.models:
                    scope.held.add(each.target.value)
                if may_be_none(node.value) or called in annotated.nones:
                    scope.optional.add(each.target.value)
        return None

    def _function_of(self, value: cst.BaseExpression) -> str:
        """Return the name of the function or method of which a value is the result."""
        value = value.expression if isinstance(value, cst.Await) else value
        return dotted(value.func).rpartition(".")[2] if isinstance(value, cst.Call) else ""

    def is_model(self, name: str) -> bool:
        """Return whether a name of `acp` is a model, or a function that makes one."""
        return False

    def visit_AnnAssign(self, node: cst.AnnAssign) -> bool | None:
        """Remember what is assigned."""
        kind = self.resolver.held(node.value) if node.value else None
        kind = kind or self.resolver.annotated(node.annotation.annotation)
        self.resolver.remember_type(node.target, node.annotation.annotation)
        self.resolver.assign(node.target, kind)
        if isinstance(node.target, cst.Name) and accepts_none(node.annotation.annotation):
            self.resolver.scopes[-1].optional.add(node.target.value)
        return None

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        """Remember what is assigned."""
        self.resolver.assign(node.target, self.resolver.held(node.value))

    def visit_For(self, node: cst.For) -> None:
        """Remember what the target of a loop is."""
        self.resolver.assign(node.target, self.resolver.items(node.iter))

    def visit_WithItem(self, node: cst.WithItem) -> bool | None:
        """Remember what a context manager gives."""
        if node.asname is not None and isinstance(node.item, cst.Call):
            self.resolver.assign(node.asname.name, self.resolver.entered(node.item))
        return None


class Attributes(Tracking):
    """Finds the attributes and the results of functions of a whole file, before it is rewritten."""

    def visit_Assign(self, node: cst.Assign) -> bool | None:
        """Remember which names hold lists."""
        if isinstance(node.value, cst.List):
            made = [each.value.func for each in node.value.elements if isinstance(each.value, cst.Call)]
            models = any(self.resolver.name(each) for each in made)
            for each in node.targets:
                self.resolver.remember_list(each.target, models=models)
        return super().visit_Assign(node)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        """Remember what a function returns, if it is a function of the module."""
        returned = [each.value for each in simple_statements(original_node.body) if isinstance(each, cst.Return)]
        value = returned[-1] if returned else None
        if original_node.returns is not None:
            parts = [part for each in returned if each is not None for part in _parts(each)]
            kinds_of = [self.resolver.value(each) or self.resolver.guess(each) for each in parts]
            self.resolver.facts.returned[id(original_node)] = {each.role for each in kinds_of if each and not each.cls}
        is_property = any(dotted(each.decorator) == "property" for each in original_node.decorators)
        if is_property and value is not None and (kind := self.resolver.value(value)):
            self.resolver.attributes.setdefault(self.resolver.scopes[-1].cls, {})[original_node.name.value] = kind
        kinds: Kind | tuple[Kind | None, ...] | None = self.resolver.held(value) if value is not None else None
        if isinstance(value, cst.Tuple):
            kinds = tuple(self.resolver.held(each.value) for each in value.elements)
        if original_node.returns is not None:
            annotation = original_node.returns.annotation
            kinds = kinds or self.resolver.annotated(annotation) or tuple(self.resolver.written_parts(annotation))
        if kinds and len(self.resolver.scopes) <= 3:
            name, cls = original_node.name.value, self.resolver.scopes[-1].cls
            if not cls:
                self.resolver.facts.functions[name] = kinds
            elif isinstance(kinds, Kind):
                self.resolver.attributes.setdefault(cls, {})[f"{name}()"] = kinds
        return super().leave_FunctionDef(original_node, updated_node)


def _parts(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [each.value for each in value.elements] if isinstance(value, cst.Tuple) else [value]
