"""Find the names that a failure of user code mentions, in the type checker's message and in the code nearby.

Names of properties and methods start with a dot; names of classes and values don't. A name quoted in a message may be
either, so it is yielded in both forms.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codegen.diff.user_code.type_checker import Problem


def mentions(problem: Problem, tree: ast.Module) -> Iterator[set[str]]:
    """Yield sets of names, the closest first.

    The names come from the message, the statement of the line, the statements that assign its variables, and finally
    the headers of the enclosing statements.
    """
    yield set(_quoted_names(problem))
    enclosing = [each for each in ast.walk(tree) if isinstance(each, ast.stmt) and _contains(each, problem.line)]
    if not enclosing:
        return  # a comment, or a decorator
    statement = enclosing[-1]
    functions = [each for each in enclosing if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    yield set(_names(statement))
    yield {name for each in _assignments(statement, functions[-1] if functions else tree) for name in _names(each)}
    for outer in reversed(enclosing[:-1]):
        yield set(_names(outer))


def imported_profiles(tree: ast.Module, package: str) -> set[str]:
    """Return the profiles that a module imports."""
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


def _contains(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _quoted_names(problem: Problem) -> Iterator[str]:
    """Yield the names that a message quotes, and the parameters that its hint proposes."""
    quoted = re.findall(r'"([^"]*)"', problem.message.split("; maybe ")[0])
    for text in quoted:
        yield from (name for word in re.findall(r"\w+", text) for name in (word, f".{word}"))
    if problem.kind == "call-overload":
        yield from (f".{name}" for name in re.findall(r"(\w+):", problem.hint))


def _assignments(statement: ast.stmt, scope: ast.AST) -> list[ast.stmt]:
    """Return the statements of a scope that assign the variables of a statement."""
    used = {each.id for each in _nodes(statement) if isinstance(each, ast.Name)}
    others = [each for each in ast.walk(scope) if isinstance(each, ast.stmt) and each not in (statement, scope)]
    return [each for each in others if used.intersection(_assigned(each))]


def _assigned(statement: ast.stmt) -> Iterator[str]:
    for node in _nodes(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)):
                yield name
            case _:
                pass


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement, without those of nested statements."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from _nodes(child)


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names in a statement."""
    for node in _nodes(statement):
        match node:
            case ast.Name(id=name):
                yield name
            case ast.Attribute(attr=name):
                yield f".{name}"
            case ast.MatchClass(kwd_attrs=names):
                yield from (f".{name}" for name in names)
            case _:
                pass
