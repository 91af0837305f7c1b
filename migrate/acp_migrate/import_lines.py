"""Writes import statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst
from libcst import matchers as m

from acp_migrate.names import Target

_WIDTH = 88


def import_lines(wanted: Mapping[str, Target]) -> list[cst.SimpleStatementLine]:
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


def insert(module: cst.Module, new: Sequence[cst.BaseStatement]) -> cst.Module:
    """Return a module with further imports, after the last one at its top."""
    last = 0
    for position, each in enumerate(module.body):
        docstring = position == 0 and m.matches(each, m.SimpleStatementLine([m.Expr(m.SimpleString())]))
        if docstring or m.matches(each, m.SimpleStatementLine([m.Import() | m.ImportFrom()])):
            last = position + 1
        elif position > last:
            break
    return module.with_changes(body=[*module.body[:last], *new, *module.body[last:]])
