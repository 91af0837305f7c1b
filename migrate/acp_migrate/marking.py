"""Comments that say what is left to a person."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from acp_migrate.context import MARK

# What can have a comment on the line above.
HOLDERS = (
    *(cst.SimpleStatementLine, cst.BaseCompoundStatement),
    *(cst.ExceptHandler, cst.ExceptStarHandler, cst.Else, cst.Finally, cst.MatchCase),
)


def comment(text: str) -> cst.EmptyLine:
    """Return the comment that leaves something to a person."""
    return cst.EmptyLine(comment=cst.Comment(f"{MARK}{text}"))


def comments(lines: Sequence[cst.EmptyLine]) -> set[str]:
    """Return the comments in lines."""
    return {each.comment.value for each in lines if each.comment}


def is_marked(lines: Sequence[cst.EmptyLine]) -> bool:
    """Return whether lines have a comment that leaves something to a person."""
    return any(each.startswith(MARK) for each in comments(lines))


def marked(lines: Sequence[cst.EmptyLine], todos: Sequence[str], header: set[str]) -> list[cst.EmptyLine]:
    """Return the lines above a statement with comments, each once.

    Args:
        lines: the lines.
        todos: what to say in comments.
        header: the comments at the top of the file, which may belong to its first statement.
    """
    there = comments(lines) | header
    return [*lines, *(comment(text) for text in dict.fromkeys(todos) if f"{MARK}{text}" not in there)]


def count_marks(code: str) -> int:
    """Return how many places in a file are left to a person."""
    return code.count(MARK)
