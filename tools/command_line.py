"""Writes docs/reference/command-line.md from the parsers of the commands: `make command-line`."""

from __future__ import annotations

import re
from argparse import Action
from collections.abc import Iterator
from textwrap import dedent

from acp_kit.__main__ import parsers
from acp_kit.common.command_line import CommandParser
from tools.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "command-line.md"
# Options and placeholders in sentences.
_CODE = re.compile(r"(?<!\S)(--[a-z-]+|\{\w+\})")
_HEAD = """\
<!-- Written by `make command-line`. Do not edit. -->
# The command line

`acp-bindings COMMAND --help` prints the same text, and `acp-bindings --version` the version of the package. The words
after `--` are the command of an agent or a client. The exit code is 2 if an argument is wrong, or a file can't be read
or written.

With the extra `completion`, `acp-bindings --completion bash` prints a completion script for bash; it can also print one
for zsh or tcsh. Write it to `~/.local/share/bash-completion/completions/acp-bindings`, or for zsh to `_acp-bindings` in
a folder of `$fpath`.
"""


def render_page() -> str:
    """Return the page."""
    _, commands = parsers()
    return "\n".join([_HEAD, *(line for name, parser in commands.items() for line in _section(name, parser))])


def _section(name: str, parser: CommandParser) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{parser.description}\n"
    yield _block(parser.usage or _usage(parser))
    yield "| argument | meaning |\n|---|---|"
    for argument in parser.arguments:
        if "--help" not in argument.option_strings:
            yield f"| `{_spelling(argument)}` | {argument.help} |"
    yield ""
    text = (parser.epilog or "").partition("\nscenarios:")[0]  # only --help lists them
    for paragraph in filter(None, text.strip().split("\n\n")):
        yield from _paragraph(paragraph.splitlines())


def _paragraph(lines: list[str]) -> Iterator[str]:
    """Yield lines of a help text as Markdown: indented ones as a block, the others as sentences."""
    sentences = " ".join(line for line in lines if not line.startswith(" "))
    indented = [line for line in lines if line.startswith(" ")]
    if sentences:
        yield _CODE.sub(r"`\1`", f"{sentences[0].upper()}{sentences[1:]}\n")
    if indented:
        yield _block(dedent("\n".join(indented)))


def _block(text: str) -> str:
    return f"```text\n{text.strip()}\n```\n"


def _usage(parser: CommandParser) -> str:
    positional = [_value(argument) for argument in parser.arguments if not argument.option_strings]
    return " ".join([parser.prog, "[options]", *positional])


def _spelling(argument: Action) -> str:
    value = [] if argument.nargs == 0 else [_value(argument)]
    return " ".join([*argument.option_strings, *value])


def _value(argument: Action) -> str:
    if argument.metavar is None and argument.choices is not None:
        return "/".join(map(str, argument.choices))
    return str(argument.metavar or argument.dest.upper())


if __name__ == "__main__":
    PAGE.write_text(render_page(), "utf-8")
