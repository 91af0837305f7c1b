r"""Writes text from the schema into Python, Markdown and terminals, so that it stays inert text there.

The schema is not trusted. Its text must not act in generated code, reports, pull requests, documentation or terminals:

- Names (definitions, properties, methods, versions) are checked when they are read, and need no escaping.
- Descriptions and titles go through `escape_unsafe` when they are read, so they have no control characters later.
- All other text (values of enums, tags, defaults, patterns) is written by a function of this module.

Invisible characters, and those that change how others are displayed, become escapes such as `\u202e`.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Control characters except tab and newline, characters without width, those that reorder or break lines, surrogates,
# tags. Not `str.isprintable`, because its result depends on the version of Python.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_CODE = re.compile("(?<!`)(`+)(?!`).*?(?<!`)\\1(?!`)")
_NO_BREAK = "\0"
# What GitHub acts on: mentions, references to issues, words that close issues, instructions to skip checks.
_ACTS = re.compile(r"(?i)[@#](?=\w)|\b(close[sd]?|fix(e[sd])?|resolve[sd]?)(?=:?\s\S*[/-])|\[(?=(actions|ci|no|skip) )")
# Comments that tools read as instructions.
_DIRECTIVE = re.compile(r"\s*#?\s*(?:fmt|isort|mypy|noqa|pyright|ruff|type)\b")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_LANGUAGE = re.compile(r"^( *```)\w+$", re.MULTILINE)
_FORMAT = re.compile(
    "(paragraph|em|strong|list_item|bullet_list|ordered_list)_(open|close)"
    "|inline|text|softbreak|hardbreak|code_inline|link_close"
)


def escape_unsafe(text: str) -> str:
    """Escape unsafe characters. Newlines and tabs stay."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Escape unsafe characters, newlines and tabs included, so that the text is one line."""
    return escape_unsafe(text).replace("\n", "\\n").replace("\t", "\\t")


def python_literal(value: Any) -> str:
    """Write a JSON scalar as Python source. Strings are in double quotes, as the formatter writes them."""
    return escape_unsafe(json.dumps(value, ensure_ascii=False)) if isinstance(value, str) else repr(value)


def docstring(text: str, indent: int) -> str:
    """Write a text as the source of a docstring, at an indentation."""
    text = re.sub(r'"(?=""|\Z)', r"\"", text.strip().replace("\\", "\\\\"))
    lines = [line.rstrip() for line in text.split("\n")]
    padded = [lines[0], *(" " * indent + line if line else "" for line in lines[1:])]
    end = "\n" + " " * indent if len(lines) > 1 else ""
    return f'"""{chr(10).join(padded)}{end}"""'


def comment(text: str) -> str:
    """Write a text as the source of a comment that no tool reads as a directive."""
    return "\n".join(f"#{' |' * bool(_DIRECTIVE.match(line))} {line}".rstrip() for line in text.split("\n"))


def code(text: str) -> str:
    """Write code in Markdown, on one line, between more backticks than it contains in a row."""
    if not text:
        return ""
    line = " ".join(one_line(text).split())
    ticks = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    space = " " if len(ticks) > 1 else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def inert_code(text: str) -> str:
    """Write code in Markdown for GitHub, which acts on text in commit messages even between backticks."""
    return _ACTS.sub("\\g<0>\u200b", code(text))  # a space without width


def plain(text: str) -> str:
    """Write plain text in Markdown, on one line."""
    return " ".join(re.sub(r"([\\`*\[<&])", r"\\\1", escape_unsafe(text)).split())


def markdown(text: str) -> str:
    """Write the schema's Markdown for the documentation, which Sphinx reads with MyST.

    Text with only paragraphs, lists, emphasis, code and https links is kept, but blocks of code lose their language:
    Sphinx warns if the code isn't in it. In any other text, all punctuation is escaped.
    """
    text = _LANGUAGE.sub(r"\1", text)
    after_paragraph = f"x\n\n{text}"
    in_list = f"- x. {textwrap.indent(text, '  ').lstrip()}"
    if _is_harmless(after_paragraph) and _is_harmless(in_list):
        return text
    return "\n".join(_PUNCTUATION.sub(r"\\\1", line.strip()) for line in text.split("\n"))


def _is_harmless(text: str) -> bool:
    """Return whether a text's Markdown affects only the text itself."""
    state: dict[str, Any] = {}
    tokens = _make_parser().parse(f"{text}\n\nend", state)
    parts = [part for token in tokens for part in (token, *(token.children or ()))]
    # An unclosed block of code would contain the last paragraph.
    is_closed = [token.content for token in tokens[-2:-1]] == ["end"]
    # docs/_ext/for_readers.py removes comments, even from code.
    return is_closed and "<!--" not in text and not state.get("references") and all(map(_is_format, parts))


def _is_format(part: Token) -> bool:
    """Return whether a part only formats. A block of code with a language could be a directive."""
    if part.type == "link_open":
        return str(part.attrs["href"]).startswith("https://")
    return bool(_FORMAT.fullmatch(part.type)) or (part.type == "fence" and not part.info)


@cache
def _make_parser() -> MarkdownIt:
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig  # imported here: only the reference needs it
    from myst_parser.parsers.mdit import create_md_parser

    # As in docs/conf.py.
    return create_md_parser(MdParserConfig(enable_extensions={"deflist"}), RendererHTML)


def wrap(text: str, width: int, first: str = "", others: str = "") -> str:
    """Wrap a text, but not between backticks. `first` and `others` are the indentations of its lines."""
    unbroken = _CODE.sub(lambda code: code[0].replace(" ", _NO_BREAK), text)
    lines = textwrap.wrap(
        unbroken, width, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace(_NO_BREAK, " ")


def join_first(names: Sequence[str], limit: int) -> str:
    """Return the first `limit` names, and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
