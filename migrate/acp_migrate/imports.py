"""The imports of a rewritten file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import libcst as cst
from libcst import matchers as m

from acp_migrate.bodies import with_lines
from acp_migrate.context import Context
from acp_migrate.import_lines import import_lines, insert
from acp_migrate.marking import comment, comments, marked
from acp_migrate.names import Gone, Target
from acp_migrate.resolving import is_experimental
from acp_migrate.syntax import STATEMENTS, dotted, is_a
from acp_migrate.usage import unresolved, used_names

# Functions whose calls are replaced as a whole.
CALLED = ("run_agent", "connect_to_agent", "spawn_agent_process")
EXPERIMENTAL = "The models of drafts are in `acp_bindings.v2_draft`, and handlers take one request."
_STAR = "Import names instead of `*`, and run this again."
_NEEDED = "The file can't be loaded without this package any more."
IMPORT_ALONE = "Write this import on a line of its own, and run this again."


def imports_acp(node: cst.CSTNode) -> bool:
    """Return whether a statement imports `acp` or something from it."""
    if isinstance(node, cst.Import):
        return any(each.evaluated_name.partition(".")[0] == "acp" for each in node.names)
    return isinstance(node, cst.ImportFrom) and not node.relative and dotted(node.module).partition(".")[0] == "acp"


def is_acp(node: cst.CSTNode) -> bool:
    """Return whether a statement imports names from `acp`."""
    return (
        isinstance(node, cst.ImportFrom)
        and imports_acp(node)
        and not isinstance(node.names, cst.ImportStar)
        and not is_experimental(dotted(node.module))
    )


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
        self._guarded: set[str] = set()  # of those, imported in a `try`
        self._nested: set[str] = set()  # imported in blocks and functions
        self._checked: set[str] = set()  # imported for type checkers only
        self._checking = 0
        self._header: set[str] = set()
        self._depth = 0
        self._tries = 0
        self._top = False  # whether the file always imports `acp`
        self._functions: list[cst.FunctionDef] = []  # the enclosing functions
        self._always: list[set[str]] = []  # for each of them, what it imports in any case

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Visit statements, and skip the rest."""
        return super().on_visit(node) and is_a(type(node), (cst.Module, *STATEMENTS))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._depth += 1
        self._functions.append(node)
        self._always.append(set())

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        self._depth -= 1
        self._functions.pop()
        self._always.pop()
        return updated_node

    def visit_Try(self, node: cst.Try) -> None:
        self._tries += 1

    def visit_With(self, node: cst.With) -> None:
        self._tries += 1  # such as `suppress(ImportError)`

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> cst.With:
        self._tries -= 1
        return updated_node

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> cst.Try:
        self._tries -= 1
        return updated_node

    def visit_If(self, node: cst.If) -> None:
        self._depth += 1
        self._checking += dotted(node.test).rpartition(".")[2] == "TYPE_CHECKING"

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.BaseStatement | cst.RemovalSentinel:
        self._depth -= 1
        self._checking -= dotted(original_node.test).rpartition(".")[2] == "TYPE_CHECKING"
        if original_node.body is not updated_node.body and not updated_node.body.body and updated_node.orelse is None:
            return cst.RemoveFromParent()
        return updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        node = original_node.body[0]
        if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar) and imports_acp(node):
            return updated_node.with_changes(leading_lines=marked(updated_node.leading_lines, [_STAR], self._header))
        if len(original_node.body) > 1 and any(map(imports_acp, original_node.body)):
            return updated_node.with_changes(
                leading_lines=marked(updated_node.leading_lines, [IMPORT_ALONE], self._header)
            )
        if isinstance(node, cst.ImportFrom) and imports_acp(node) and is_experimental(dotted(node.module)):
            return updated_node.with_changes(
                leading_lines=marked(updated_node.leading_lines, [EXPERIMENTAL], self._header)
            )
        if len(original_node.body) == 1 and isinstance(node, cst.ImportFrom) and is_acp(node):
            return self._replaced(updated_node, *self._split(node))
        if len(original_node.body) == 1 and isinstance(node, cst.Import):
            return self._import(updated_node, node)
        if len(original_node.body) == 1 and isinstance(node, cst.ImportFrom) and dotted(node.module) == "typing":
            return self._typing(updated_node, node)
        return updated_node

    def _split(self, node: cst.ImportFrom) -> tuple[dict[str, Target], dict[str, Target], list[cst.ImportAlias]]:
        """Return what a statement imports here, what of it others may import from this file, and what has to stay."""
        wanted: dict[str, Target] = {}
        again: dict[str, Target] = {}
        stay: list[cst.ImportAlias] = []
        for each in _names(node):
            local = each.evaluated_alias or each.evaluated_name
            found = self._context.names.find(each.evaluated_name)
            reexported = local not in self._before
            exported = local in self._context.exported
            if not reexported and local in self._used and local not in self._context.wanted:
                stay.append(each)
            elif (
                isinstance(found, Target)
                and found.alike
                and reexported
                and each.evaluated_name not in (*self._context.names.helpers, *CALLED)
            ):
                again[local] = found
            elif reexported:
                stay.append(each)
            elif isinstance(found, Target):
                if exported and found.alike and each.evaluated_name not in CALLED:
                    again[local] = found
                elif exported:
                    stay.append(each)
                name = each.evaluated_alias or found.name
                ours = {name, f"Acp{name}", f"Remote{name}"} & self._used
                wanted.update({local: target for local, target in self._context.wanted.items() if local in ours})
        return wanted, again, stay

    def _replaced(
        self,
        line: cst.SimpleStatementLine,
        wanted: dict[str, Target],
        again: dict[str, Target],
        stay: Sequence[cst.ImportAlias],
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        node = cst.ensure_type(line.body[0], cst.ImportFrom)
        new: list[cst.BaseStatement] = [*import_lines(self._needed({**wanted, **again}, again))]
        if stay:
            aliases = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in stay]
            todos = [each for each in _todos(self._context, stay) if not comments([each]) <= self._there(line)]
            kept = node.with_changes(names=aliases, lpar=None, rpar=None) if len(stay) < len(_names(node)) else node
            new.append(line.with_changes(body=[kept], leading_lines=todos))
        if not new:
            return self._without_names(line)
        leading = [*line.leading_lines, *([] if len(stay) == len(_names(node)) else comments_in(node))]
        first = cst.ensure_type(new[0], cst.SimpleStatementLine)
        new[0] = first.with_changes(
            leading_lines=[*leading, *first.leading_lines], trailing_whitespace=line.trailing_whitespace
        )
        self._context.changes += bool(wanted or again)
        return cst.FlattenSentinel(new)

    def _needed(self, named: Mapping[str, Target], again: Mapping[str, Target]) -> dict[str, Target]:
        """Return what a statement imports: at the top of a file and in a function, all that the code there needs.

        Args:
            named: what is in place of the names that the statement imports.
            again: what others may import from this file.
        """
        wanted = self._context.wanted
        self._top |= not (self._depth or self._tries)
        if not self._depth:
            found = {
                **({each: wanted[each] for each in wanted if each in self._used} if not self._written else {}),
                **again,
            }
            self._written |= {*found}
            self._guarded |= {*found} if self._tries else set()
            return found
        found = {**named}
        if self._checking and not self._functions:
            found |= {each: wanted[each] for each in wanted if each in self._used - self._context.made and not named}
        elif self._functions:
            used = used_names(self._functions[-1]) - self._always[-1]
            found |= {each: wanted[each] for each in wanted if each in used}
        found = {each: target for each, target in found.items() if each not in self._written - self._guarded}
        (self._checked if self._checking else self._nested).update(found)
        if len(self._functions) == self._depth and not self._tries:
            self._always[-1] |= {*found}
        return found

    def _without_names(self, line: cst.SimpleStatementLine) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """Return an import that still fails without the package, where the old one did and code may ask so."""
        if not self._tries and not self._functions:
            return cst.RemoveFromParent()
        self._context.changes += 1
        return line.with_changes(body=[cst.Import([cst.ImportAlias(cst.Name("acp_bindings"))])])

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
            todos = [f"`{each.evaluated_alias or 'acp'}` is still used in this file." for each in stay]
            marks = marked([], todos, comments(line.leading_lines) | self._header)
            new.append(line.with_changes(body=[node.with_changes(names=[*others, *kept])], leading_lines=marks))
        new += import_lines(self._needed({}, {}))
        if not new:
            return self._without_names(line)
        first = cst.ensure_type(new[0], cst.SimpleStatementLine)
        new[0] = first.with_changes(leading_lines=[*line.leading_lines, *first.leading_lines])
        self._context.changes += 1
        return cst.FlattenSentinel(new)

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        missing = {
            each: target
            for each, target in self._context.wanted.items()
            if each in self._used and each not in self._written
        }
        inner = self._nested | self._checked
        if missing and inner:  # what only a string names is not found as unresolved
            unknown = unresolved(updated_node) | (self._context.made & self._checked)
            missing = {each: target for each, target in missing.items() if each in unknown or each not in inner}
        if not missing:
            return updated_node
        if self._top or not (self._written or inner):
            return insert(updated_node, import_lines(missing))
        return self._lazily(updated_node, missing)

    def _lazily(self, module: cst.Module, missing: Mapping[str, Target]) -> cst.Module:
        """Return a module with further imports in functions, because it can be loaded without the package."""
        bare = module.visit(_Bodies(lambda each: each.with_changes(body=cst.SimpleStatementSuite([]))))
        at_top = used_names(bare) - self._checked
        lines = import_lines({each: target for each, target in missing.items() if each in at_top})
        if lines:
            lines[0] = lines[0].with_changes(leading_lines=marked([], [_NEEDED], self._header))
        inner = {each: target for each, target in missing.items() if each not in at_top}

        def imported(node: cst.FunctionDef) -> cst.FunctionDef:
            used = used_names(node.body)
            new = import_lines({each: target for each, target in inner.items() if each in used})
            return with_lines(node, [cst.Module([each]).code for each in new])

        return insert(module.visit(_Bodies(imported)), lines)


class _Bodies(cst.CSTTransformer):
    """Changes the functions of a module and the methods of its classes."""

    def __init__(self, change: Callable[[cst.FunctionDef], cst.FunctionDef]) -> None:
        super().__init__()
        self._change = change

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        return self._change(updated_node)


def _local(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def _names(node: cst.ImportFrom) -> Sequence[cst.ImportAlias]:
    return () if isinstance(node.names, cst.ImportStar) else node.names


def _todos(context: Context, stay: Iterable[cst.ImportAlias]) -> list[cst.EmptyLine]:
    lines: list[cst.EmptyLine] = []
    for each in stay:
        found = context.names.find(each.evaluated_name)
        if each.evaluated_name == "experimental":
            lines.append(comment(EXPERIMENTAL))
        elif found is None:
            name, profile = each.evaluated_name, context.names.profile
            is_module = name.islower() and not name.startswith("_")
            missing = f"`{name}` is not in `{profile}`."
            lines.append(comment(f"The names of `acp.{name}` are in `{profile}`." if is_module else missing))
        elif isinstance(found, Gone):
            lines.append(comment(f"`{each.evaluated_name}` has no counterpart: {found.why}."))
        elif found.note:
            lines.append(comment(f"Replace `{each.evaluated_name}` by `{found.module}.{found.name}`: {found.note}."))
        else:
            lines.append(comment(f"Replace `{each.evaluated_name}`."))
    return lines
