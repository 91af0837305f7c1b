"""Parses a file, and refuses what libcst's parser could end the process on."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator

import libcst as cst

# libcst's native parser has no limit: it overflows the stack. Python's has, but finds `a and b and c` flat.
_DEEPEST = 1000
_LONG = 300  # characters; shorter text can't be that deep


class Unparsable(Exception):
    """A file can't be parsed. The text says why, with the line if it is known."""


def parse(content: bytes) -> cst.Module:
    """Parse a file.

    Raises:
        Unparsable: Python or libcst refuse it, or it is nested too deeply.
    """
    check(content)
    try:
        return cst.parse_module(content)
    except cst.ParserSyntaxError as error:
        raise Unparsable(f"line {error.raw_line}: {error.message}") from error
    except Exception as error:
        raise Unparsable(_first_line(error)) from error


def check(content: bytes) -> None:
    """Let Python parse a file.

    Raises:
        Unparsable: Python refuses it, or it is nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as those for `"\\d"`
            tree = ast.parse(content)
    except SyntaxError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        where = f"line {error.lineno}: " if error.lineno else ""
        raise Unparsable(f"{where}{error.msg}; this is Python {version}") from error
    except (RecursionError, MemoryError) as error:
        raise Unparsable("it is nested too deeply") from error
    except ValueError as error:  # such as null bytes
        raise Unparsable(_first_line(error)) from error
    if _depth(tree) > _DEEPEST or any(map(_is_deep, _in_annotations(tree))):
        raise Unparsable("it is nested too deeply")


def _in_annotations(tree: ast.AST) -> Iterator[str]:
    """Yield the longer strings that libcst may parse, because they are annotations or types."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Call, ast.Subscript, ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)):
            for each in _types_of(node):
                yield from (
                    one.value
                    for one in ast.walk(each)
                    if isinstance(one, ast.Constant) and isinstance(one.value, str) and len(one.value) > _LONG
                )


def _types_of(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Call):
        return [*node.args, *node.keywords]
    if isinstance(node, ast.Subscript):
        return [node.slice]
    given = (
        node.returns if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else getattr(node, "annotation", None)
    )
    return [given] if given is not None else []


def _is_deep(text: str) -> bool:
    try:
        return _depth(ast.parse(text)) > _DEEPEST
    except SyntaxError as error:
        return "nested" in str(error.msg)
    except (RecursionError, MemoryError):
        return True
    except ValueError:
        return False


def _depth(tree: ast.AST) -> int:
    """Return how deep libcst's tree would be at most."""
    deepest = 0
    left = [(tree, 0)]
    while left:
        node, depth = left.pop()
        deepest = max(deepest, depth)
        for position, each in enumerate(ast.iter_child_nodes(node)):
            left.append((each, depth + 1 + (position if isinstance(node, ast.BoolOp) else 0)))
    return deepest


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
