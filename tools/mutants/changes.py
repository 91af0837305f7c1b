"""The small changes of a file: what each one replaces, and with what."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tools.paths import ROOT

_LOGS = re.compile(
    r"\b(_?logger|_?log|logging|warnings)\.(debug|info|warning|error|exception|critical|log|warn)\b|LOGGER"
)
_COMPARISONS: dict[type[ast.cmpop], Sequence[str]] = {
    ast.Eq: ["!="],
    ast.NotEq: ["=="],
    ast.Lt: ["<=", ">="],
    ast.LtE: ["<", ">"],
    ast.Gt: [">=", "<="],
    ast.GtE: [">", "<"],
    ast.Is: ["is not"],
    ast.IsNot: ["is"],
    ast.In: ["not in"],
    ast.NotIn: ["in"],
}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*"}
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)
# Nothing in them is changed: they do nothing, or are only for type checkers and readers.
_SKIPPED = (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)
_DECLARING = {"init", "repr", "compare", "kw_only"}
_FOR_READERS = {"__repr__", "__str__", "__rich_repr__"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


@dataclass(frozen=True)
class Change:
    """A change of one place, which is found by its text, so that it outlives changes elsewhere in the file.

    Args:
        file: the path from the root of the repository.
        function: the qualified name of the function or class around it, empty at the top of the module.
        text: the line where the replaced text begins, without its indentation.
        old: the replaced text.
        new: the text in its place.
        nth: which of several equal places in the function it is.
    """

    file: str
    function: str
    text: str
    old: str
    new: str
    nth: int = 0

    def read_source(self) -> str:
        """Return the text of the file as it was when this process first read it."""
        return _read(self.file)

    def apply(self) -> str:
        """Return the text of the file with the change, which keeps the numbers of all lines.

        Raises:
            LookupError: the file has no such place.
        """
        source, start = self.read_source(), self._find_start()
        return source[:start] + _pad(self.old, self.new) + source[start + len(self.old) :]

    def find_line(self) -> int:
        """Return the number of the line where the replaced text begins.

        Raises:
            LookupError: the file has no such place.
        """
        return self.read_source().count("\n", 0, self._find_start()) + 1

    def _find_start(self) -> int:
        places = _find_places(self.read_source(), self.function, self.text, self.old)
        if self.nth >= len(places):
            place = self.function or "the module"
            raise LookupError(f"{self.file}: {place} has no line {self.text!r} with {self.old!r}.")
        return places[self.nth]


def restore() -> None:
    """Write back each file that a process was changing on disk when it was killed."""
    for file, text in _texts.items():
        if (ROOT / file).read_text() != text:
            (ROOT / file).write_text(text)


_texts: dict[str, str] = {}


def _read(file: str) -> str:
    if file not in _texts:
        if not (ROOT / file).exists():
            raise LookupError(f"There is no file {file}.")
        _texts[file] = (ROOT / file).read_text()
    return _texts[file]


def find_changes(file: str) -> list[Change]:
    """Return all changes of a file."""
    source = _read(file)
    changes: list[Change] = []
    for start, old, new, function in _find_replacements_in_module(source):
        text = source[source.rfind("\n", 0, start) + 1 :].split("\n", 1)[0].strip()
        nth = _find_places(source, function, text, old).index(start)
        change = Change(file, function, text, old, new, nth)
        if new != old and change not in changes and _compiles(change):
            changes.append(change)
    return changes


def is_cached(change: Change) -> bool:
    """Return whether the changed function keeps its results: it is a `cached_property`, or decorated with `cache`."""
    name = change.function.rpartition(".")[2]
    functions = (node for node in ast.walk(_parse(change.read_source())) if isinstance(node, Function))
    return any(
        "cache" in ast.unparse(decorator)
        for function in functions
        if function.name == name
        for decorator in function.decorator_list
    )


def lines_of_statement(source: str, line: int) -> range:
    """Return the lines of the innermost statement at a line, without the statements inside it."""
    innermost = range(line, line + 1)
    for node in ast.walk(_parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            inside = [child.lineno for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
            end = min([(node.end_lineno or 0) + 1, *inside])
            if line < end:
                innermost = range(node.lineno, end)
    return innermost


def lines_of_function(change: Change) -> set[int]:
    """Return the lines of the function or class around a change."""
    source = change.read_source()
    return {
        line
        for first, last in _find_ranges(source)[change.function]
        for line in range(source.count("\n", 0, first) + 1, source.count("\n", 0, last) + 1)
    }


@lru_cache(8)
def _parse(source: str) -> ast.Module:
    return ast.parse(source)


@lru_cache(256)
def _find_ranges(source: str) -> dict[str, list[tuple[int, int]]]:
    """Return the ranges of characters of each function and class, by its qualified name."""
    ranges: dict[str, list[tuple[int, int]]] = {"": [(0, len(source))]}
    starts = _find_starts(source)

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Definition):
                name = f"{prefix}{child.name}"
                ranges.setdefault(name, []).append((starts[child.lineno - 1], starts[child.end_lineno or 0]))
                visit(child, f"{name}.")
            else:
                visit(child, prefix)

    visit(_parse(source), "")
    return ranges


def _find_starts(source: str) -> list[int]:
    """Return where each line starts, and the end of the text."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return [*starts, len(source)]


def _find_places(source: str, function: str, text: str, old: str) -> list[int]:
    """Return where `old` begins in a line `text` of the function."""
    places: list[int] = []
    for first, last in _find_ranges(source).get(function, []):
        start = first
        while start < last:
            line = source[start:].split("\n", 1)[0]
            if line.strip() == text:
                places += [start + at for at in range(len(line)) if source.startswith(old, start + at)]
            start += len(line) + 1
    return places


def _pad(old: str, new: str) -> str:
    """Return `new` with as many lines as `old`."""
    missing = "\n" * (old.count("\n") - new.count("\n"))
    if not missing:
        return new
    try:
        ast.parse(new, mode="eval")
    except SyntaxError:
        return new + missing
    return f"({new}{missing})"


def _compiles(change: Change) -> bool:
    try:
        compile(change.apply(), change.file, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _find_replacements_in_module(source: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield the start and text of each replaced place, the text in its place, and the function around it."""
    starts = _find_starts(source)
    lines = source.splitlines(keepends=True)

    def position(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for function, first, last, new in _visit(_parse(source), "", source):
        start = position(first.lineno, first.col_offset)
        end = position(last.end_lineno or 0, last.end_col_offset or 0)
        yield start, source[start:end], new, function


Replacement = tuple[ast.expr | ast.stmt, ast.expr | ast.stmt, str]


def _visit(
    node: ast.AST, function: str, source: str
) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.expr | ast.stmt, str]]:
    """Yield the function around each replaced place, the place's first and last node, and the text in its place."""
    if isinstance(node, _SKIPPED) or _is_docstring(node):
        return
    if isinstance(node, ast.expr | ast.stmt | ast.comprehension):
        for first, last, new in _find_replacements(node, source):
            yield function, first, last, new
    for child, around in _find_children(node, function):
        yield from _visit(child, around, source)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _find_children(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield the parts of a node that are changed, and the function around them."""
    match node:
        case ast.If(test=test, orelse=orelse) if "TYPE_CHECKING" in ast.unparse(test):
            yield from ((statement, function) for statement in orelse)
        case ast.Expr(value=ast.Call(func=func)) if _LOGS.search(ast.unparse(func)):
            return
        case ast.Call(func=func) if _is_for_type_checkers(func):
            return
        case ast.Call(func=ast.Name(id="field"), keywords=keywords):  # of a dataclass
            yield from ((keyword.value, function) for keyword in keywords if keyword.arg not in _DECLARING)
        case ast.Raise(exc=ast.Call(keywords=[])):
            return  # the rest is a message
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if _is_declaration(node):
                return
            inside = f"{function}.{node.name}" if function else node.name
            defaults = [default for default in [*node.args.defaults, *node.args.kw_defaults] if default is not None]
            yield from ((default, inside) for default in defaults)
            yield from ((statement, inside) for statement in node.body)
        case ast.ClassDef(bases=bases, name=name, body=body):
            if not any("Protocol" in ast.unparse(base) for base in bases):
                inside = f"{function}.{name}" if function else name
                yield from ((statement, inside) for statement in body)
        case ast.AnnAssign(value=value):
            if value is not None:
                yield value, function
        case _:
            yield from ((child, function) for child in ast.iter_child_nodes(node))


def _is_declaration(node: Function) -> bool:
    decorators = {ast.unparse(decorator).split("(")[0].split(".")[-1] for decorator in node.decorator_list}
    return bool(decorators & {"overload", "abstractmethod"}) or node.name in _FOR_READERS


def _is_for_type_checkers(func: ast.expr) -> bool:
    name = ast.unparse(func)
    return name.endswith(("cast", "TypeVar", "assert_never", "NewType")) or bool(_LOGS.search(name))


def _find_replacements(  # noqa: PLR0912 - a table
    node: ast.expr | ast.stmt | ast.comprehension, source: str
) -> Iterator[Replacement]:
    """Yield the first and last replaced node, and the text in their place."""

    def text(part: ast.AST) -> str:
        return ast.get_source_segment(source, part) or ""

    def atom(part: ast.AST) -> str:
        return text(part) if isinstance(part, _ATOMS) else f"({text(part)})"

    match node:
        case ast.If(test=test) if "TYPE_CHECKING" in ast.unparse(test):
            return
        case ast.If(test=test) | ast.IfExp(test=test):
            yield test, test, "True"
            yield test, test, "False"
        case ast.comprehension(ifs=conditions):
            yield from ((condition, condition, "True") for condition in conditions)
        case ast.Compare():
            yield from ((node, node, new) for new in _vary_comparison(node, atom))
        case ast.BoolOp(op=op, values=values):
            word, other = (" and ", " or ") if isinstance(op, ast.And) else (" or ", " and ")
            atoms = [atom(value) for value in values]
            yield node, node, f"({other.join(atoms)})"
            for index in range(len(atoms)):
                yield node, node, word.join(atoms[:index] + atoms[index + 1 :])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, node, f"({text(operand)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC and not _is_text_or_list(node):
            yield node, node, f"({text(left)}) {_ARITHMETIC[type(op)]} ({text(right)})"
        case ast.Constant(value=bool(value)):
            yield node, node, str(not value)
        case ast.Constant(value=int(number) | float(number)):
            yield node, node, f"({number + 1})"
            if number != 0:
                yield node, node, f"({number - 1})"
        case ast.Call(func=func) if not _is_for_type_checkers(func) and ast.unparse(func) != "field":
            yield from ((node, node, new) for new in _drop_arguments(node, text))
        case ast.stmt():
            yield from _replace_statement(node, text)
        case _:
            return


def _vary_comparison(node: ast.Compare, atom: Callable[[ast.AST], str]) -> Iterator[str]:
    """Yield the comparison with another operator in each place."""
    operands = [atom(node.left), *(atom(operand) for operand in node.comparators)]
    for index, op in enumerate(node.ops):
        for sign in _COMPARISONS[type(op)][: 1 if len(node.ops) > 1 else None]:
            signs = [sign if at == index else _SIGNS[type(kept)] for at, kept in enumerate(node.ops)]
            yield operands[0] + "".join(f" {sign} {operand}" for sign, operand in zip(signs, operands[1:], strict=True))


def _is_text_or_list(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str | bytes))
        for part in ast.walk(node)
    )


def _drop_arguments(node: ast.Call, text: Callable[[ast.AST], str]) -> Iterator[str]:
    """Yield the call without each keyword argument, and without its last positional one."""
    arguments = [text(argument) for argument in node.args]
    keywords = [
        f"{keyword.arg}={text(keyword.value)}" if keyword.arg else f"**{text(keyword.value)}"
        for keyword in node.keywords
    ]
    for index, keyword in enumerate(node.keywords):
        if keyword.arg:
            yield f"{text(node.func)}({', '.join([*arguments, *keywords[:index], *keywords[index + 1 :]])})"
    if len(node.args) > 1 and not isinstance(node.args[-1], ast.Starred):
        yield f"{text(node.func)}({', '.join([*arguments[:-1], *keywords])})"


def _replace_statement(  # noqa: PLR0912 - a table
    node: ast.stmt, text: Callable[[ast.AST], str]
) -> Iterator[Replacement]:
    match node:
        case ast.Return(value=None):
            yield node, node, "pass"
        case ast.Return(value=ast.Constant(value=None | True | False)):
            return
        case ast.Return(value=ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) as value):
            yield value, value, f"not ({text(value)})"
        case ast.Return():
            yield node, node, "return None"
        case ast.Raise() | ast.AugAssign() | ast.Delete():
            yield node, node, "pass"
        case ast.Expr(value=value):
            if not _LOGS.search(text(value)):
                yield node, node, "pass"
        case ast.Assign(targets=targets) if any(
            isinstance(target, ast.Attribute | ast.Subscript) for target in targets
        ):
            yield node, node, "pass"
        case ast.AnnAssign(value=ast.expr(), target=ast.Attribute() | ast.Subscript()):
            yield node, node, "pass"
        case ast.Try(finalbody=finalbody, handlers=handlers) | ast.TryStar(finalbody=finalbody, handlers=handlers):
            if finalbody:
                yield finalbody[0], finalbody[-1], "pass"
            for handler in handlers:
                written = "".join(text(statement) for statement in handler.body)
                if not isinstance(handler.body[0], ast.Pass) and not _LOGS.search(written):
                    yield handler.body[0], handler.body[-1], "pass"
        case ast.While(orelse=[]):
            if not any(isinstance(part, ast.Break | ast.Continue) for part in ast.walk(node)):
                yield node, node, "if" + text(node).removeprefix("while")
        case ast.Break():
            yield node, node, "continue"
        case ast.Continue():
            yield node, node, "break"
        case _:
            return
