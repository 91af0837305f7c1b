"""Which names a failure of user code mentions: what the type checker says, and the statements around the line.

Names of properties and methods have a dot before them, names of classes and values have none; what the type checker
quotes may be either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codegen.diff.checker import Problem


def mentions(problem: Problem, tree: ast.Module) -> Iterator[set[str]]:
    """The names, the closest first: the message, the statement of the line, the heads of those around it."""
    yield set(_said(problem))
    around = [each for each in ast.walk(tree) if isinstance(each, ast.stmt) and _holds(each, problem.line)]
    for statement in reversed(around):
        yield set(_written(statement))


def imported_profiles(tree: ast.Module, package: str) -> set[str]:
    """The profiles that a module imports."""
    modules = [each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    names = [alias.name for each in ast.walk(tree) if isinstance(each, ast.Import) for alias in each.names]
    found = {name.split(".")[1] for name in (*modules, *names) if name.startswith(f"{package}.")}
    whole = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) and each.module == package]
    return found | {alias.name for each in whole for alias in each.names}


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _said(problem: Problem) -> Iterator[str]:
    """What a message quotes. Of a union it is the member that fails; None fails for what stands before the dot."""
    quoted = re.findall(r'"([^"]*)"', problem.message.split("; maybe ")[0])
    if problem.kind == "union-attr":
        quoted = [] if quoted[0] == "None" else [quoted[0], quoted[-1]]
    for text in quoted:
        yield from (name for word in re.findall(r"\w+", text) for name in (word, f".{word}"))
        yield from re.findall(r"'[^']*'", text)
    if problem.kind == "call-overload":
        yield from (f".{name}" for name in re.findall(r"(\w+):", problem.hint))


def _written(node: ast.AST) -> Iterator[str]:
    """The names in a statement, without the statements inside it."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield f".{name}"
        case ast.keyword(arg=str(name)):
            yield f".{name}"
        case ast.MatchClass(kwd_attrs=names):
            yield from (f".{name}" for name in names)
        case ast.alias(name=name):
            yield from name.split(".")
        case ast.Constant(value=str(text)):
            yield repr(text)
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from _written(child)
