"""Rewrites one file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import libcst as cst
from libcst import matchers as m

from acp_migrate import blocks, connecting
from acp_migrate.bindings import listed
from acp_migrate.calls import method_call, renaming_of
from acp_migrate.changing import CANT_CHANGE, assignment
from acp_migrate.expressions import constructor, error, helper_call, model_class
from acp_migrate.fstrings import fitted
from acp_migrate.handlers import camel, fake, handler
from acp_migrate.imports import IMPORT_ALONE, Imports, imports_acp
from acp_migrate.leftovers import mark_leftovers
from acp_migrate.marking import HOLDERS, comments, count_marks, marked
from acp_migrate.names import Names, Target
from acp_migrate.project import HandlerClass, Project
from acp_migrate.renaming import Renaming
from acp_migrate.scopes import Scopes
from acp_migrate.syntax import dotted, is_a, statements, visit_only
from acp_migrate.tracking import Attributes
from acp_migrate.usage import used_names

_MAYBE_STAND_IN = "If this stands in for a connection, its methods take keywords, and it has no base class."
_STAND_IN = (
    "This is taken for a connection, whose methods take keywords. Those of an agent or a client take one request."
)
_LENIENT = "`{}` reads what the schema tolerates, and raises in fewer cases than the old SDK."
# What has no names in it. It is half of a file.
_BLANK = {
    *(cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Comma, cst.Dot),
    *(cst.AssignEqual, cst.LeftParen, cst.RightParen, cst.LeftSquareBracket, cst.RightSquareBracket),
}
_CONNECTING = ("connect_to_agent", "ClientSideConnection")


@dataclass(frozen=True)
class Rewritten:
    """A file after rewriting.

    Attributes:
        content: its code.
        encoding: in which it is written.
        changes: how many places were changed.
        todos: how many places are left to a person, in comments.
    """

    content: bytes
    encoding: str
    changes: int
    todos: int


def read_attributes(scopes: Scopes, project: Project) -> Attributes:
    """Find what the attributes of classes in a file are, and remember it in the project."""
    attributes = Attributes(scopes, project)
    visit_only(scopes.module, attributes)
    return attributes


def rewrite_module(scopes: Scopes, project: Project, names: Names, name: str = "") -> Rewritten:
    """Rewrite a file if it uses `acp`, or the classes of another that does.

    Args:
        scopes: the file.
        project: the handler classes of all files.
        names: what each name is here.
        name: the last part of the name of its module.
    """
    module = scopes.module
    project = project.seen_from(module)
    attributes = read_attributes(scopes, project)
    rewriter = _Rewriter(scopes, project, names)
    exports = project.exports
    rewriter.context.exported = {*exports.wanted.get(name, ()), *listed(module)}
    if name in exports.starred:
        rewriter.context.exported |= {each for each in exports.own.get(id(module), ()) if not each.startswith("_")}
    rewriter.resolver.facts = attributes.resolver.facts
    new = module.visit(rewriter)
    new = new.visit(Imports(rewriter.context, used_names(new), used_names(module)))
    new = mark_leftovers(new, names)
    code = new.code
    return Rewritten(code.encode(new.encoding), new.encoding, rewriter.context.changes, count_marks(code))


class _Rewriter(Renaming):
    def __init__(self, scopes: Scopes, project: Project, names: Names) -> None:
        super().__init__(scopes, project, names)
        self._module = scopes.module
        self._header = comments(self._module.header)
        self._opened: set[int] = set()  # the expressions that `with` opens, by id
        self._methods: set[int] = set()  # the definitions of methods, by id
        self._functions: list[cst.FunctionDef] = []  # the enclosing functions, as they were
        self._lenient: list[str] = []  # what is to say of a function that reads models
        self._tries = self._raises = 0  # the enclosing blocks whose errors are caught, and that expect one

    # Calls

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        new = self._call(original_node, updated_node)
        if new is None:
            return updated_node
        if new is not updated_node:
            self.context.changes += 1
        return new

    def _call(self, original: cst.Call, call: cst.Call) -> cst.BaseExpression | None:
        context = self.context
        path = self.resolver.acp(original.func)
        old = path.rpartition(".")[2]
        if not path:
            return method_call(context, original, call)
        if ".RequestError." in path and old in context.names.errors:
            return error(context, old, call)
        if old in context.names.helpers:
            new = helper_call(context, context.names.helpers[old], call)
            if new is None:
                context.todo(f"Write `{context.names.helpers[old].expression}`.")
            return new
        if old == "spawn_agent_process" and id(original) not in self._opened:
            context.todo(blocks.ALONE)
        if old in connecting.FUNCTIONS:
            return connecting.FUNCTIONS[old](context, call)
        if old == "AgentSideConnection":
            context.todo("`serve_streams(factory, reader, writer)` serves an agent: run it as a task.")
            return call.with_changes(func=original.func)
        if old in ("model_validate", "model_validate_json") and (self._tries or self._raises):
            add = self._lenient.append if self._functions and not self._raises else context.todo
            add(_LENIENT.format(dotted(call.func)))
        found = context.names.find(old)
        if isinstance(found, Target) and not found.alike:
            return call
        if old == "AvailableCommandInput" and len(call.args) == 1 and isinstance(call.args[0].value, cst.Call):
            return call.args[0].value  # it was a root model
        cls: Any = model_class(found) if isinstance(found, Target) else None
        if (
            isinstance(found, Target)
            and cls is None
            and found.module == context.names.profile
            and found.name[0].isupper()
        ):
            context.todo(f"`{found.name}` is a union: make an instance of one of its members.")
        return call if cls is None else constructor(context, call, cls)

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.BaseExpression:
        name = self._functions[-1].name.value if self._functions else ""
        if original_node.evaluated_value == name and self.resolver.scopes[-1].cls in self.context.project.classes:
            self.context.todo(renaming_of(self.context, name))
        return super().leave_SimpleString(original_node, updated_node)

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.FormattedString:
        return fitted(self.context, original_node, updated_node)

    def leave_AugAssign(self, original_node: cst.AugAssign, updated_node: cst.AugAssign) -> cst.AugAssign:
        target = original_node.target
        if isinstance(target, cst.Attribute) and self.resolver.is_model(target.value):
            self.context.todo(CANT_CHANGE)
        return updated_node

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        return assignment(self.context, original_node, updated_node)

    def is_model(self, name: str) -> bool:
        found = self.context.names.find(name) if name else None
        return name in self.context.names.helpers or (isinstance(found, Target) and model_class(found) is not None)

    # Definitions

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        super().leave_FunctionDef(original_node, updated_node)
        self._functions.pop()
        while self._lenient:  # what calls the function sees a result where it saw an error
            self.context.todo(self._lenient.pop(0))
        scope = self.resolver.scopes[-1]
        cls = self.context.project.classes.get(scope.cls)
        if cls is not None and id(original_node) in self._methods:
            updated_node = handler(self.context, cls, updated_node)
        elif id(original_node) in self._methods:
            fake(self.context, scope.cls, updated_node)
        return updated_node

    def visit_ClassDef(self, node: cst.ClassDef) -> bool | None:
        self._methods |= {id(each) for each in node.body.body if isinstance(each, cst.FunctionDef)}
        return super().visit_ClassDef(node)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        super().leave_ClassDef(original_node, updated_node)
        cls = self.context.project.classes.get(original_node.name.value)
        if cls is not None and cls.stand_in:
            if cls.structural:
                self.context.todo(_STAND_IN)
            kept = [each for each in updated_node.bases if dotted(each.value) not in ("Agent", "Client")]
            return updated_node.with_changes(
                bases=kept,
                lpar=updated_node.lpar if kept else cst.MaybeSentinel.DEFAULT,
                rpar=updated_node.rpar if kept else cst.MaybeSentinel.DEFAULT,
            )
        if cls is not None:
            self.context.todo(self._abstract(cls, original_node))
        if cls is not None and cls.structural and not (cls.served or cls.connected):
            self.context.todo(_MAYBE_STAND_IN)
        if cls is not None and cls.structural and not original_node.bases:
            base = cst.Arg(self.context.name(cls.role.title()))
            updated_node = updated_node.with_changes(bases=[base], lpar=cst.LeftParen(), rpar=cst.RightParen())
        if cls is not None and connecting.takes_connection(self.context, cls):
            body = connecting.initializer(self.context, updated_node.body.body)
            updated_node = updated_node.with_changes(body=updated_node.body.with_changes(body=body))
        return updated_node

    def _abstract(self, cls: HandlerClass, node: cst.ClassDef) -> str:
        """Return what to say of a class of which instances are created, and that lacks methods; "" if it doesn't."""
        project, names = self.context.project, self.context.names
        known = all(each.startswith("acp:") or each in project.classes for each in cls.bases)
        if cls.stand_in or not project.created.get(cls.name) or len(node.bases) > len(cls.bases) or not known:
            return ""
        methods = names.methods[cls.role].values()
        base: Any = getattr(import_module(names.profile), cls.role.title())
        missing = [
            each.new
            for each in methods
            if each.new in base.__abstractmethods__
            and all(project.method(cls.name, one) is None for one in (each.old, each.new, camel(each.old)))
        ]
        what = ", ".join(f"`{each}`" for each in missing)
        return f"`{cls.name}` can't be created without {what}: `{base.__name__}` is abstract." if missing else ""

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        """Remember which connections will be open in a block."""
        if len(node.body) != 1 or not isinstance(node.body[0], cst.Assign):
            return
        assign = node.body[0]
        if isinstance(assign.value, cst.Call) and self.resolver.name(assign.value.func) in _CONNECTING:
            if self._async and isinstance(assign.targets[0].target, cst.Name):
                self.resolver.scopes[-1].blocks.add(assign.targets[0].target.value)
            else:
                self.context.todo(blocks.OPEN)

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        if not self._async:
            return updated_node
        body = blocks.in_block(self.context, statements(updated_node), self._functions[-1])
        return updated_node if body is None else updated_node.with_changes(body=body)

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> None:
        if any(map(imports_acp, node.body)):
            self.context.todo(IMPORT_ALONE)

    def visit_WithItem(self, node: cst.WithItem) -> bool | None:
        self._opened.add(id(node.item))
        return super().visit_WithItem(node)

    def visit_With(self, node: cst.With) -> None:
        self._raises += _expects_error(node)

    def visit_Try_body(self, node: cst.Try) -> None:
        self._tries += 1

    def leave_Try_body(self, node: cst.Try) -> None:
        self._tries -= 1

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> cst.BaseStatement:
        self._raises -= _expects_error(original_node)
        calls = [each.item for each in original_node.items if isinstance(each.item, cst.Call)]
        if any(self.resolver.name(each.func) == "spawn_agent_process" for each in calls):
            return blocks.yields_proxy(self.context, updated_node, self._attributes_of)
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool | None:
        self._functions.append(node)
        return super().visit_FunctionDef(node)

    def _attributes_of(self, name: str) -> set[str]:
        """Return what the file uses of a value: names of attributes, and "" for the value itself."""
        found: set[str] = set()
        for each in m.findall(self._module, m.Attribute(m.Name(name))):
            found.add(cst.ensure_type(each, cst.Attribute).attr.value)
        uses = len(m.findall(self._module, m.Name(name)))
        targets = len(
            m.findall(self._module, m.WithItem(asname=m.AsName(m.Tuple([m.Element(), m.Element(m.Name(name))]))))
        )
        if uses - targets > len(m.findall(self._module, m.Attribute(m.Name(name)))):
            found.add("")
        return found

    @property
    def _async(self) -> bool:
        return bool(self._functions) and self._functions[-1].asynchronous is not None

    # Statements

    def on_visit(self, node: cst.CSTNode) -> bool:
        if type(node) in _BLANK:
            return False
        if is_a(type(node), HOLDERS):
            self.context.todos.append([])
            self.context.inserted.append([])
        return super().on_visit(node)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        if type(original_node) in _BLANK:
            return updated_node
        new = super().on_leave(original_node, updated_node)
        if not is_a(original_node.__class__, HOLDERS):
            return new
        todos, inserted = self.context.todos.pop(), self.context.inserted.pop()
        if not isinstance(new, HOLDERS):
            return new
        lines: Any = marked(new.leading_lines, todos, self._header)
        if not inserted:
            return new.with_changes(leading_lines=lines) if todos else new
        if not isinstance(new, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            self.context.inserted[-1].extend(inserted)  # such as `except`: they stand before the whole statement
            return new.with_changes(leading_lines=lines)
        first: Any = inserted[0]
        inserted[0] = first.with_changes(leading_lines=lines)
        return cst.FlattenSentinel([*inserted, new.with_changes(leading_lines=[cst.EmptyLine(indent=False)])])


def _expects_error(node: cst.With) -> bool:
    return any(isinstance(each.item, cst.Call) and dotted(each.item.func).endswith("raises") for each in node.items)
