r"""Writes text of the schema into other languages, so that it stays text there.

Whoever publishes a schema could put anything into it, so nothing in it may act: in generated code, in a report, in a
pull request, in the documentation, or in a terminal. Three rules keep it so:

- Names (definitions, properties, methods, versions) are checked where they are read. They need no escaping.
- Descriptions and titles get `visible` when they are read, so no output has to deal with control characters in them.
- All other text (values of enums, tags, defaults, patterns) is written by a function of this module.

Characters that can't be seen, or that change how others are displayed, are written as escapes such as `\u202e`.
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

# Controls but tab and newline, characters without width, those that reorder or break lines, surrogates, tags.
# Not `str.isprintable`, which depends on the version of Python.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_CODE, _NO_BREAK = re.compile("(?<!`)(`+)(?!`).*?(?<!`)\\1(?!`)"), "\0"
# Mentions, references to issues, the words that close those with another name than `#1`, instructions to skip checks.
_ACTS = re.compile(r"(?i)[@#](?=\w)|\b(close[sd]?|fix(e[sd])?|resolve[sd]?)(?=:?\s\S*[/-])|\[(?=(actions|ci|no|skip) )")
# Comments with which a text could change how tools read the file.
_DIRECTIVE = re.compile(r"\s*#?\s*(?:fmt|isort|mypy|noqa|pyright|ruff|type)\b")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_LANGUAGE = re.compile(r"^( *```)\w+$", re.MULTILINE)
_FORMAT = re.compile(
    "(paragraph|em|strong|list_item|bullet_list|ordered_list)_(open|close)"
    "|inline|text|softbreak|hardbreak|code_inline|link_close"
)


def escape_unsafe(text: str) -> str:
    """Return a text with escapes for the characters that are unsafe. Newlines and tabs stay."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return a text on one line, with escapes for the characters that are unsafe, newlines and tabs included."""
    return escape_unsafe(text).replace("\n", "\\n").replace("\t", "\\t")


def python_literal(value: Any) -> str:
    """Return a JSON scalar as Python source, with strings in double quotes as the formatter writes them."""
    return escape_unsafe(json.dumps(value, ensure_ascii=False)) if isinstance(value, str) else repr(value)


def docstring(text: str, indent: int) -> str:
    """Return a text as the source of a docstring at an indentation."""
    text = re.sub(r'"(?=""|\Z)', r"\"", text.strip().replace("\\", "\\\\"))
    lines = [line.rstrip() for line in text.split("\n")]
    padded = [lines[0], *(" " * indent + line if line else "" for line in lines[1:])]
    end = "\n" + " " * indent if len(lines) > 1 else ""
    return f'"""{chr(10).join(padded)}{end}"""'


def comment(text: str) -> str:
    """Return a text as the source of a comment that no tool takes for a directive."""
    return "\n".join(f"#{' |' * bool(_DIRECTIVE.match(line))} {line}".rstrip() for line in text.split("\n"))


def code(text: str) -> str:
    """Return code in Markdown, on one line, delimited by more backticks than it contains in a row."""
    if not text:
        return ""
    line = " ".join(one_line(text).split())
    ticks = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    space = " " if len(ticks) > 1 else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def inert_code(text: str) -> str:
    """Return code in Markdown for GitHub, which acts on what stands in commit messages even between backticks."""
    return _ACTS.sub("\\g<0>\u200b", code(text))  # a space without width


def plain(text: str) -> str:
    """Return text in Markdown, on one line."""
    return " ".join(re.sub(r"([\\`*\[<&])", r"\\\1", escape_unsafe(text)).split())


def markdown(text: str) -> str:
    """Return Markdown of the schema as Markdown for the documentation, which is written with MyST.

    It stays as it is if it has nothing but paragraphs, lists, emphasis, code and links to https; blocks of code lose
    their language, because Sphinx warns about code that isn't in it. Any other text is not Markdown but text: each
    character of it is shown.
    """
    text = _LANGUAGE.sub(r"\1", text)
    # Below a paragraph, and behind other text in a list or a definition.
    places = (f"x\n\n{text}", f"- x. {textwrap.indent(text, '  ').lstrip()}")
    if all(map(_is_harmless, places)):
        return text
    return "\n".join(_PUNCTUATION.sub(r"\\\1", line.strip()) for line in text.split("\n"))


def _is_harmless(text: str) -> bool:
    """Return whether Markdown does nothing but format its own text."""
    state: dict[str, Any] = {}
    tokens = _parser().parse(f"{text}\n\nend", state)
    parts = [part for token in tokens for part in (token, *(token.children or ()))]
    is_complete = [token.content for token in tokens[-2:-1]] == ["end"]  # or a block of code goes on behind it
    # docs/_ext/for_readers.py removes comments, even from code.
    return is_complete and "<!--" not in text and not state.get("references") and all(map(_is_format, parts))


def _is_format(part: Token) -> bool:
    """Return whether a part of a text is allowed. A block of code with a language could be a directive."""
    if part.type == "link_open":
        return str(part.attrs["href"]).startswith("https://")
    return bool(_FORMAT.fullmatch(part.type)) or (part.type == "fence" and not part.info)


@cache
def _parser() -> MarkdownIt:
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig  # imported here because only the reference needs it
    from myst_parser.parsers.mdit import create_md_parser

    # As in docs/conf.py.
    return create_md_parser(MdParserConfig(enable_extensions={"deflist"}), RendererHTML)


def wrap(text: str, width: int, first: str = "", others: str = "") -> str:
    """Wrap a text, but not within backticks. `first` and `others` are the indentations of its lines."""
    unbroken = _CODE.sub(lambda code: code[0].replace(" ", _NO_BREAK), text)
    lines = textwrap.wrap(
        unbroken, width, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace(_NO_BREAK, " ")


def join_first(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
