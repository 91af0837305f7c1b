"""Expressions in f-strings, which can't contain the quotes of the string before Python 3.12."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from acp_migrate.context import Context

_UNFIT = "Write this expression outside of the f-string, and run this again."


def fitted(context: Context, old: cst.FormattedString, new: cst.FormattedString) -> cst.FormattedString:
    """Return an f-string whose new expressions have other quotes than the string itself.

    An expression for which that isn't possible is left as it was, with a comment.
    """
    return new.with_changes(parts=[*_parts(context, old, new)])


def _parts(
    context: Context, old: cst.FormattedString, new: cst.FormattedString
) -> Iterator[cst.BaseFormattedStringContent]:
    quote = new.end[0]
    for before, after in zip(old.parts, new.parts, strict=True):
        if not isinstance(before, cst.FormattedStringExpression) or not isinstance(
            after, cst.FormattedStringExpression
        ):
            yield after
            continue
        expression = after.expression
        if before.expression.deep_equals(expression):
            yield after
            continue
        swapped = expression.visit(_Quotes(quote))
        assert isinstance(swapped, cst.BaseExpression)
        code = cst.Module([]).code_for_node(swapped)
        if quote in code or "\\" in code or "\n" in code:
            context.todo(_UNFIT)
            yield before
        else:
            space = cst.SimpleWhitespace(" " if code.startswith("{") else "")
            yield after.with_changes(expression=swapped, whitespace_before_expression=space)


class _Quotes(cst.CSTTransformer):
    """Gives strings other quotes."""

    def __init__(self, quote: str) -> None:
        super().__init__()
        self._quote = quote

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.SimpleString:
        other = "'" if self._quote == '"' else '"'
        if updated_node.quote != self._quote or other in updated_node.raw_value:
            return updated_node
        return updated_node.with_changes(value=f"{updated_node.prefix}{other}{updated_node.raw_value}{other}")
