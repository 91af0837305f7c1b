"""Descriptions in JSON schemas: the docstrings below the fields of a model, read from its source on demand."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from sys import modules
from typing import Any

from pydantic import BaseModel


def describe(model: type[BaseModel], properties: dict[str, Any]) -> None:
    """Add the docstrings of a model's fields to its JSON schema, and remove the titles that are made of names.

    What a field itself gives as its description or title stays. A class whose source is missing adds nothing.

    Args:
        model: the model.
        properties: the properties of its JSON schema, which are changed.
    """
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        texts |= _docstrings(base.__module__).get(base.__qualname__, {})
    for name, field in model.__pydantic_fields__.items():
        schema = properties.get(field.alias or name) or properties.get(name, {})
        if field.title is None:
            schema.pop("title", None)
        if name in texts:
            schema.setdefault("description", texts[name])


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of the fields of each class at the top of a module."""
    try:
        tree = ast.parse(inspect.getsource(modules[module]))
    except (KeyError, OSError, SyntaxError, TypeError):
        return {}
    return {node.name: _fields(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> dict[str, str]:
    texts: dict[str, str] = {}
    for pair in pairwise(node.body):
        match pair:
            case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                texts[name] = inspect.cleandoc(text)
            case _:
                pass
    return texts
