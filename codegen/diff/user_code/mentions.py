"""Which names a failure of user code mentions: in what the type checker says, and in the code it says it of.

Names of properties and methods have a dot before them, names of classes and values have none; what the type checker
quotes may be either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codegen.diff.user_code.checker import Problem


def mentions(problem: Problem, tree: ast.Module) -> Iterator[set[str]]:
    """The names, the closest first.

    What the message quotes; the statement of the line; those that its variables have their values from; the heads of
    the statements around it.
    """
    yield set(_said(problem))
    around = [each for each in ast.walk(tree) if isinstance(each, ast.stmt) and _holds(each, problem.line)]
    if not around:
        return  # a comment, or a decorator
    statement = around[-1]
    functions = [each for each in around if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    yield set(_written(statement))
    yield {name for each in _sources(statement, functions[-1] if functions else tree) for name in _written(each)}
    for outer in reversed(around[:-1]):
        yield set(_written(outer))


def imported_profiles(tree: ast.Module, package: str) -> set[str]:
    """The profiles that a module imports."""
    names: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=aliases):
                names += [f"{module}.{alias.name}" for alias in aliases]
            case ast.Import(names=aliases):
                names += [alias.name for alias in aliases]
            case _:
                pass
    return {name.split(".")[1] for name in names if name.startswith(f"{package}.")}


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _said(problem: Problem) -> Iterator[str]:
    """What a message quotes, and the parameters that it proposes."""
    quoted = re.findall(r'"([^"]*)"', problem.message.split("; maybe ")[0])
    for text in quoted:
        yield from (name for word in re.findall(r"\w+", text) for name in (word, f".{word}"))
    if problem.kind == "call-overload":
        yield from (f".{name}" for name in re.findall(r"(\w+):", problem.hint))


def _sources(statement: ast.stmt, scope: ast.AST) -> list[ast.stmt]:
    """The statements of a scope that set a variable that a statement uses."""
    used = {each.id for each in _own(statement) if isinstance(each, ast.Name)}
    others = [each for each in ast.walk(scope) if isinstance(each, ast.stmt) and each not in (statement, scope)]
    return [each for each in others if used.intersection(_set(each))]


def _set(statement: ast.stmt) -> Iterator[str]:
    for node in _own(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)):
                yield name
            case _:
                pass


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement is made of, without the statements inside it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from _own(child)


def _written(statement: ast.stmt) -> Iterator[str]:
    """The names in a statement that a message may leave out."""
    for node in _own(statement):
        match node:
            case ast.Name(id=name):
                yield name
            case ast.Attribute(attr=name):
                yield f".{name}"
            case ast.MatchClass(kwd_attrs=names):
                yield from (f".{name}" for name in names)
            case _:
                pass
