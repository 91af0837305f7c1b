"""The imports of a rewritten file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import libcst as cst
from libcst import matchers as m

from acp_kit.migrate.context import Context
from acp_kit.migrate.marking import comment, comments
from acp_kit.migrate.names import Gone, Target
from acp_kit.migrate.project import dotted

_WIDTH = 88
_MODULES = ("acp.", "acp")


def is_acp(node: cst.CSTNode) -> bool:
    """Return whether a statement imports names from `acp`."""
    if not isinstance(node, cst.ImportFrom) or node.relative or node.module is None:
        return False
    return dotted(node.module).partition(".")[0] == "acp" and not isinstance(node.names, cst.ImportStar)


def statements(wanted: Mapping[str, Target]) -> list[cst.SimpleStatementLine]:
    """Return the statements that import names, sorted as isort does.

    Args:
        wanted: the local names, and what they are.
    """
    by_module: dict[str, list[str]] = {}
    plain: set[str] = set()
    for local, target in wanted.items():
        if not target.name:
            plain.add(target.module)
            continue
        written = target.name if local == target.name else f"{target.name} as {local}"
        by_module.setdefault(target.module, []).append(written)
    lines = [f"import {module}" for module in sorted(plain)]
    for module, names in sorted(by_module.items()):
        ordered = sorted(names, key=_isort_key)
        line = f"from {module} import {', '.join(ordered)}"
        lines.append(
            line
            if len(line) <= _WIDTH
            else f"from {module} import (\n{''.join(f'    {each},{chr(10)}' for each in ordered)})"
        )
    return [cst.ensure_type(cst.parse_statement(line), cst.SimpleStatementLine) for line in lines]


def _isort_key(name: str) -> tuple[int, str]:
    """Constants first, then classes, then functions."""
    first = name.partition(" ")[0]
    return (0 if first.isupper() and len(first) > 1 else 1 if first[0].isupper() else 2, first.lower())


def comments_in(node: cst.CSTNode) -> list[cst.EmptyLine]:
    """Return the comments inside of a statement, as lines of their own."""
    found = [cst.ensure_type(each, cst.Comment) for each in m.findall(node, m.Comment())]
    return [cst.EmptyLine(comment=each) for each in found]


class Imports(cst.CSTTransformer):
    """Replaces the imports of `acp` by those of what the rewritten code uses.

    Args:
        context: the file.
        used: the names that the rewritten code uses, outside of imports.
        before: the names that the old code used.
    """

    def __init__(self, context: Context, used: set[str], before: set[str]) -> None:
        super().__init__()
        self._context = context
        self._used = used
        self._before = before
        self._written: set[str] = set()  # imported at the top of the file
        self._nested: set[str] = set()  # imported in blocks and functions
        self._header: set[str] = set()
        self._depth = 0
        self.left: list[str] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._depth += 1

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        self._depth -= 1
        return updated_node

    def visit_If(self, node: cst.If) -> None:
        self._depth += 1

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.BaseStatement | cst.RemovalSentinel:
        self._depth -= 1
        if original_node.body is not updated_node.body and not updated_node.body.body and updated_node.orelse is None:
            return cst.RemoveFromParent()
        return updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        node = original_node.body[0]
        if len(original_node.body) == 1 and isinstance(node, cst.ImportFrom) and is_acp(node):
            return self._replaced(updated_node, *self._split(node))
        if len(original_node.body) == 1 and isinstance(node, cst.Import):
            return self._import(updated_node, node)
        if len(original_node.body) == 1 and isinstance(node, cst.ImportFrom) and dotted(node.module) == "typing":
            return self._typing(updated_node, node)
        return updated_node

    def _split(self, node: cst.ImportFrom) -> tuple[dict[str, Target], list[cst.ImportAlias]]:
        """Return what a statement imports here, and the names that have to stay."""
        wanted: dict[str, Target] = {}
        stay: list[cst.ImportAlias] = []
        for each in _names(node):
            local = each.evaluated_alias or each.evaluated_name
            found = self._context.names.find(each.evaluated_name)
            reexported = local not in self._before
            if not reexported and local in self._used and local not in self._context.wanted:
                stay.append(each)
            elif (
                isinstance(found, Target)
                and reexported
                and self._context.names.helpers.get(each.evaluated_name) is None
            ):
                self._context.use(found.name, found.module)
                wanted[found.name] = found
            elif reexported:
                stay.append(each)
            elif isinstance(found, Target):
                name = each.evaluated_alias or found.name
                ours = {name, f"Acp{name}", f"Remote{name}"} & self._used
                wanted.update({local: target for local, target in self._context.wanted.items() if local in ours})
        return wanted, stay

    def _replaced(
        self, line: cst.SimpleStatementLine, wanted: dict[str, Target], stay: Sequence[cst.ImportAlias]
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        if not self._depth:
            needed = {each: target for each, target in self._context.wanted.items() if each in self._used}
            wanted = {**needed, **wanted} if not self._written else {}
            self._written |= {*wanted}
        else:
            wanted = {each: target for each, target in wanted.items() if each not in self._written}
            self._nested |= {*wanted}
        node = cst.ensure_type(line.body[0], cst.ImportFrom)
        new: list[cst.BaseStatement] = [*statements(wanted)]
        if stay:
            aliases = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in stay]
            todos = [each for each in _todos(self._context, stay) if not comments([each]) <= self._there(line)]
            kept = node.with_changes(names=aliases, lpar=None, rpar=None) if len(stay) < len(_names(node)) else node
            new.append(line.with_changes(body=[kept], leading_lines=todos))
        if not new:
            return cst.RemoveFromParent()
        leading = [*line.leading_lines, *([] if len(stay) == len(_names(node)) else comments_in(node))]
        first = cst.ensure_type(new[0], cst.SimpleStatementLine)
        new[0] = first.with_changes(
            leading_lines=[*leading, *first.leading_lines], trailing_whitespace=line.trailing_whitespace
        )
        self._context.changes += bool(wanted)
        return cst.FlattenSentinel(new)

    def _typing(
        self, line: cst.SimpleStatementLine, node: cst.ImportFrom
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """Leave out what only the old annotations needed, such as Any."""
        names = _names(node)
        kept = [each for each in names if _local(each) in self._used or _local(each) not in self._before]
        if len(kept) == len(names):
            return line
        if not kept:
            return cst.RemoveFromParent()
        last = kept[-1].with_changes(comma=names[-1].comma)
        return line.with_changes(body=[node.with_changes(names=[*kept[:-1], last])])

    def _there(self, line: cst.SimpleStatementLine) -> set[str]:
        return comments(line.leading_lines) | self._header

    def visit_Module(self, node: cst.Module) -> None:
        self._header = comments(node.header)

    def _import(
        self, line: cst.SimpleStatementLine, node: cst.Import
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        ours = [each for each in node.names if each.evaluated_name.partition(".")[0] == "acp"]
        if not ours:
            return line
        others = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in node.names if each not in ours]
        stay = [each for each in ours if (each.evaluated_alias or "acp") in self._used]
        new: list[cst.BaseStatement] = []
        if others or stay:
            kept = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in stay]
            new.append(line.with_changes(body=[node.with_changes(names=[*others, *kept])], leading_lines=[]))
        if not self._depth and not self._written:
            needed = {each: target for each, target in self._context.wanted.items() if each in self._used}
            self._written |= {*needed}
            new += statements(needed)
        if not new:
            return cst.RemoveFromParent()
        first = cst.ensure_type(new[0], cst.SimpleStatementLine)
        new[0] = first.with_changes(leading_lines=[*line.leading_lines, *first.leading_lines])
        self._context.changes += 1
        return cst.FlattenSentinel(new)

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        missing = {
            each: target
            for each, target in self._context.wanted.items()
            if each in self._used and each not in self._written and each not in self._nested
        }
        return insert(updated_node, statements(missing)) if missing else updated_node


def _local(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def _names(node: cst.ImportFrom) -> Sequence[cst.ImportAlias]:
    return () if isinstance(node.names, cst.ImportStar) else node.names


def _todos(context: Context, stay: Iterable[cst.ImportAlias]) -> list[cst.EmptyLine]:
    lines: list[cst.EmptyLine] = []
    for each in stay:
        found = context.names.find(each.evaluated_name)
        if found is None:
            lines.append(comment(f"The names of `acp.{each.evaluated_name}` are in `{context.names.profile}`."))
        elif isinstance(found, Gone):
            lines.append(comment(f"`{each.evaluated_name}` has no counterpart: {found.why}."))
        elif found.note:
            lines.append(comment(f"Replace `{each.evaluated_name}` by `{found.module}.{found.name}`: {found.note}."))
        else:
            lines.append(comment(f"Replace `{each.evaluated_name}`."))
    return lines


def insert(module: cst.Module, new: Sequence[cst.BaseStatement]) -> cst.Module:
    """Return a module with further imports, after the last one at its top."""
    last = 0
    for position, each in enumerate(module.body):
        if m.matches(each, m.SimpleStatementLine([m.Import() | m.ImportFrom()])):
            last = position + 1
        elif position > 0 and not m.matches(each, m.SimpleStatementLine([m.Expr(m.SimpleString())])):
            break
    return module.with_changes(body=[*module.body[:last], *new, *module.body[last:]])


def used_names(module: cst.Module) -> set[str]:
    """Return the names that a file uses, outside of imports."""
    found: set[str] = set()
    module.visit(_Used(found))
    return found


class _Used(cst.CSTVisitor):
    def __init__(self, found: set[str]) -> None:
        super().__init__()
        self._found = found

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self._found.add(node.value)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        text = node.evaluated_value
        if isinstance(text, str) and text.isidentifier():
            self._found.add(text)
