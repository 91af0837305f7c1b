"""Names of `acp` in expressions and annotations."""

from __future__ import annotations

import libcst as cst
from libcst import matchers as m
from libcst.metadata import ClassScope

from acp_migrate.bindings import bound, imported
from acp_migrate.calls import check_fake, check_given, mocked_method, snake, unknown_method
from acp_migrate.changing import fields
from acp_migrate.context import Context
from acp_migrate.imports import CALLED, is_acp
from acp_migrate.names import Gone, Names, Target
from acp_migrate.project import Project
from acp_migrate.reading import ROLES
from acp_migrate.scopes import Scopes
from acp_migrate.strings import InString, check_attribute, check_text, in_modules, loads, names_methods
from acp_migrate.syntax import dotted, in_string, simple_statements
from acp_migrate.tracking import Tracking
from acp_migrate.usage import TYPING

# Fields that models don't have here, with names that others hardly have.
_GONE_FIELDS = ("user_message_id", "current_model_id", "available_models")
# Fields that models of the old SDK also have in camel case, with names that others hardly have.
_CAMEL = (
    *("agentCapabilities", "availableCommands", "availableModes", "configOptions", "currentModeId", "exitStatus"),
    *("newText", "oldText", "optionId", "rawInput", "rawOutput", "sessionUpdate", "terminalId", "toolCallId"),
)
_REMOTE = {"agent": "RemoteAgent", "client": "RemoteClient"}


class Renaming(Tracking):
    """Replaces names of `acp`, and names of the protocol's methods as attributes of what has them."""

    def __init__(self, scopes: Scopes, project: Project, names: Names) -> None:
        super().__init__(scopes, project)
        module = scopes.module
        aliases: dict[str, str] = {}
        own: set[str] = set()
        self._modules: dict[str, str] = {}  # what the file imports with `import`, by local name
        for each in simple_statements(module):
            if isinstance(each, cst.ImportFrom) and is_acp(each) and not isinstance(each.names, cst.ImportStar):
                for one in each.names:
                    local = one.evaluated_alias or one.evaluated_name
                    own.add(local)
                    if one.evaluated_alias:
                        aliases[one.evaluated_name] = local
            elif isinstance(each, cst.Import):
                for one in each.names:
                    name = one.evaluated_name
                    first = name.partition(".")[0]
                    self._modules[one.evaluated_alias or first] = name if one.evaluated_alias else first
        self.context = Context(names, project, self.resolver, bound(module) - own, imported(module), aliases)
        self.context.uses_acp = bool(own) or "acp" in self._modules.values()
        self._plain: set[int] = set()  # names that aren't expressions, by id
        self._annotations = 0
        self._typing = 0
        self._called: set[int] = set()  # functions of calls, by id
        self._loading = 0  # whether a string is the name of a module
        self._names = 0  # whether a string may be the name of a method
        self._values = 0  # whether a string is a value of `Literal`
        self._returned: set[str] | None = None  # in the annotation of a result: which connections the function returns
        self._handlers = False  # whether an annotation is that of a handler, not of a connection

    def visit_Arg(self, node: cst.Arg) -> None:
        self._skip(node.keyword)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        super().visit_Attribute(node)
        self._skip(node.attr)

    def visit_Param(self, node: cst.Param) -> None:
        self._skip(node.name)

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_AnnAssign_value(self, node: cst.AnnAssign) -> None:
        self._typing += dotted(node.annotation.annotation).rpartition(".")[2] == "TypeAlias"

    def leave_AnnAssign_value(self, node: cst.AnnAssign) -> None:
        self._typing -= dotted(node.annotation.annotation).rpartition(".")[2] == "TypeAlias"

    def visit_AnnAssign_annotation(self, node: cst.AnnAssign) -> None:
        kind = self.resolver.value(node.value) if node.value else None
        self._handlers = kind is not None and bool(kind.cls)

    def leave_AnnAssign_annotation(self, node: cst.AnnAssign) -> None:
        self._handlers = False

    def visit_Call_func(self, node: cst.Call) -> None:
        self._called.add(id(node.func))

    def visit_Call_args(self, node: cst.Call) -> None:
        self._typing += dotted(node.func).rpartition(".")[2] in TYPING
        self._loading += loads(node)
        self._names += names_methods(node)
        check_attribute(self.context, node)
        check_fake(self.context, node)
        check_given(self.context, node)

    def leave_Call_args(self, node: cst.Call) -> None:
        self._names -= names_methods(node)
        self._typing -= dotted(node.func).rpartition(".")[2] in TYPING
        self._loading -= loads(node)

    def visit_Subscript_slice(self, node: cst.Subscript) -> None:
        self._loading += dotted(node.value) == "sys.modules"
        self._values += dotted(node.value).rpartition(".")[2] == "Literal"

    def leave_Subscript_slice(self, node: cst.Subscript) -> None:
        self._loading -= dotted(node.value) == "sys.modules"
        self._values -= dotted(node.value).rpartition(".")[2] == "Literal"

    def visit_Comparison(self, node: cst.Comparison) -> None:
        self._loading += in_modules(node)

    def leave_Comparison(self, original_node: cst.Comparison, updated_node: cst.Comparison) -> cst.Comparison:
        self._loading -= in_modules(original_node)
        return updated_node

    def visit_FormattedStringText(self, node: cst.FormattedStringText) -> None:
        if self._loading and node.value.startswith("acp."):
            self.context.todo("This names a part of `acp` in a string.")

    def visit_FunctionDef_returns(self, node: cst.FunctionDef) -> None:
        self._returned = self.resolver.facts.returned.get(id(node), set())

    def leave_FunctionDef_returns(self, node: cst.FunctionDef) -> None:
        self._returned = None

    def visit_Annotation(self, node: cst.Annotation) -> None:
        self._annotations += 1

    def leave_Annotation(self, original_node: cst.Annotation, updated_node: cst.Annotation) -> cst.Annotation:
        self._annotations -= 1
        return updated_node

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._set(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> bool | None:
        self._set(node.target)
        return super().visit_AnnAssign(node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._set(node.target)

    def visit_Del(self, node: cst.Del) -> None:
        self._set(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._set(node.target)
        super().visit_For(node)

    def visit_For_iter(self, node: cst.For) -> None:
        self._names += 1

    def leave_For_iter(self, node: cst.For) -> None:
        self._names -= 1

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._set(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._set(node.name)

    def _set(self, node: cst.BaseExpression) -> None:
        """Leave an attribute of `acp` that is set or deleted: in its place, a name would be one of this file."""
        if isinstance(node, (cst.Tuple, cst.List)):
            for each in node.elements:
                self._set(each.value)
        elif isinstance(node, cst.StarredElement):
            self._set(node.value)
        elif isinstance(node, cst.Attribute) and (path := self.resolver.acp(node)):
            self.context.todo(f"This changes `{path}`, which is not used any more: change what is in its place.")
            while isinstance(node, cst.Attribute):
                self._skip(node)
                node = node.value
            self._skip(node)

    def leave_MatchValue(self, original_node: cst.MatchValue, updated_node: cst.MatchValue) -> cst.MatchValue:
        """Keep a dotted name: without a dot, it would match everything."""
        new = updated_node.value
        if not isinstance(new, cst.Name) or isinstance(original_node.value, cst.Name):
            return updated_node
        target = self.context.wanted[new.value]
        root = target.module.partition(".")[0]
        if root in self.context.taken or self.context.wanted.get(root, target).module != target.module:
            self.context.todo(f"Compare this with `{target.module}.{target.name}`.")
            return original_node
        self.context.wanted[root] = Target(target.module, "")
        return updated_node.with_changes(value=cst.parse_expression(f"{target.module}.{target.name}"))

    def _skip(self, node: cst.CSTNode | None) -> None:
        if node is not None:
            self._plain.add(id(node))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        cls = self.context.project.classes.get(self.resolver.scopes[-1].cls)
        method = self.context.names.methods[cls.role].get(original_node.value) if cls is not None else None
        scope = self.resolver.binding(original_node)
        if method is not None and method.new != method.old and isinstance(scope, ClassScope):
            defined = [getattr(each, "node", None) for each in scope[original_node.value]]
            if any(isinstance(each, cst.FunctionDef) and each.name is not original_node for each in defined):
                self.context.todo(f"`{method.old}` is `{method.new}`.")
        return self._named(original_node) or updated_node

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if original_node.attr.value == "hint" and m.matches(original_node.value, m.Attribute(attr=m.Name("root"))):
            self.context.changes += 1
            return updated_node.with_changes(value=cst.ensure_type(updated_node.value, cst.Attribute).value)
        self.context.todo(mocked_method(self.context, original_node))
        if self._is_gone(original_node):
            self.context.todo(f"`{original_node.attr.value}`: {self.context.names.fields[original_node.attr.value]}.")
        old, new = original_node.attr.value, snake(original_node.attr.value)
        field = new != old and new in fields(self.context.names.profile) and self.resolver.is_model(original_node.value)
        if field and dotted(original_node.value) not in self.others:
            self.context.changes += 1
            updated_node = updated_node.with_changes(attr=cst.Name(new))
        elif field or (self.context.uses_acp and old in _CAMEL and dotted(original_node.value) != "self"):
            self.context.todo(f"`{old}` is `{new}`.")
        if original_node.attr.value == "field_meta":
            self.context.changes += 1
            updated_node = updated_node.with_changes(attr=cst.Name("meta"))
        if kind := self.resolver.value(original_node.value):
            method = self.context.names.methods[kind.role].get(original_node.attr.value)
            if method is not None and id(original_node.attr) in self._plain:
                self.context.changes += 1
                updated_node = updated_node.with_changes(attr=cst.Name(method.new))
                if id(original_node) not in self._called:
                    takes = "one request" if kind.cls else "keywords only"
                    self.context.todo(f"Check where this is called: `{method.new}` takes {takes}.")
        elif id(original_node) not in self._called and self.resolver.guess(original_node.value) is None:
            self.context.todo(unknown_method(self.context, original_node))
            error = self.context.names.errors.get(original_node.attr.value)
            if error and ".RequestError." in self.resolver.acp(original_node):
                self.context.todo(f"Replace `RequestError.{original_node.attr.value}` by the class `{error}`.")
        return self._named(original_node) or updated_node

    def _is_gone(self, node: cst.Attribute) -> bool:
        name = node.attr.value
        of_response = name == "models" and dotted(node.value).lower().endswith(("resp", "response", "result"))
        return name in _GONE_FIELDS or (self.context.uses_acp and of_response)

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.BaseExpression:
        """Replace a name in a string that is an annotation."""
        text = original_node.evaluated_value
        is_annotation = (self._annotations or self._typing) and not self._values
        parsed = in_string(original_node) if is_annotation else None
        if isinstance(text, str) and parsed is None:
            check_text(self.context, text, loading=bool(self._loading), method=bool(self._names))
        if parsed is None:
            return updated_node
        new = parsed.visit(InString(self._in_string))
        assert isinstance(new, cst.BaseExpression)
        if new is parsed or new.deep_equals(parsed):
            return updated_node
        code = cst.Module([]).code_for_node(new)
        return updated_node.with_changes(
            value=f"{original_node.prefix}{original_node.quote}{code}{original_node.quote}"
        )

    def _in_string(self, path: str) -> cst.Name | None:
        """Return the name for a path in a string that is an annotation; None to leave it."""
        root, _, rest = path.partition(".")
        start = self.context.imported.get(root, "") or self._modules.get(root, "")
        if start.partition(".")[0] != "acp" or path == "acp":
            return None
        node = cst.Name(root)
        local = self._local(f"{start}.{rest}".rstrip(".").rpartition(".")[2], node)
        return cst.Name(local) if local else None

    def _named(self, node: cst.Name | cst.Attribute) -> cst.BaseExpression | None:
        """Return the expression for a name of `acp` as it is here; None to leave it."""
        if id(node) in self._plain or "." not in self.resolver.acp(node):
            return None
        if self.resolver.is_passed_on(node) and self.resolver.name(node) not in ROLES:
            return None
        local = self._local(self.resolver.name(node), node)
        return cst.Name(local) if local else None

    def _local(self, old: str, node: cst.Name | cst.Attribute) -> str | None:
        """Return the local name for a name of `acp`, and see to it that it is imported; None to leave it."""
        found = self.context.names.find(old)
        if old in CALLED or old in self.context.names.helpers:
            return None
        if not isinstance(found, Target):
            if isinstance(found, Gone) and isinstance(node, cst.Attribute):
                self.context.todo(f"`{old}` has no counterpart: {found.why}.")
            return None
        if not found.alike:
            if isinstance(node, cst.Attribute):
                self.context.todo(f"Replace `{old}` by `{found.module}.{found.name}`: {found.note}.")
            return None
        self.context.changes += 1
        connects = self._returned is None or ROLES.get(old) in self._returned
        remote = old in ROLES and self._annotations and connects and not self._handlers
        alias = self.context.aliases.get(old)
        if alias is not None and isinstance(node, cst.Name) and alias == node.value and not remote:
            self.context.wanted[alias] = found
            return alias
        return self.context.use(_REMOTE[ROLES[old]] if remote else found.name, found.module, made=False)
