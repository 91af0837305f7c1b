"""Hostile text, and schemas that have it everywhere where a schema has text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from codegen.nodes import is_object
from tests.support.codegen.build import STRING, Schema, model, ref

# What must not be in any output: a file that a directive includes.
SECRET = "the content of a maintainer's file"
# In Markdown, MyST, HTML, reStructuredText and Jinja. `FILE` is the path of a file with the secret, `SRC` another one.
_MARKUP = (
    "<script>alert(1)</script>",
    "<img src=http://tracker.example/a.png onerror=alert(1)>",
    "<!-- hidden",
    "-->",
    "``` {include} FILE\n```",
    "```{include} FILE\n```",
    "```\n```{include} FILE\n```\n```",
    "- a\n  ```\n```{literalinclude} FILE\n```",
    "~~~{literalinclude} FILE\n~~~",
    ":::{include} FILE\n:::",
    "```{eval-rst}\n.. include:: FILE\n```",
    "```{raw} html\n<script>alert(1)</script>\n```",
    "{download}`a <FILE>`",
    "{download}`FILE`",
    "`a` {download}`FILE` `b",
    "`` {download}`FILE` ``` {download}`FILE`",
    ".. include:: FILE",
    ".. raw:: html\n\n   <script>alert(1)</script>",
    "- .. literalinclude:: FILE",
    "x ::\n\n.. include:: FILE",
    ":download:`FILE`",
    "`a <FILE>`:download:",
    "`a`:download:`FILE` `b",
    "`a <javascript:alert(1)>`__",
    "![](http://tracker.example/a.png)",
    "![](FILE)",
    "[a](FILE)",
    "[a](file://FILE)",
    "[a](javascript:alert(1))",
    "[a](https://x.example/> <javascript:alert`1`)",
    "[a <javascript:alert(1)>](https://x.example/)",
    "[a](data:text/html,<script>alert(1)</script>)",
    "[a][b]\n\n[b]: FILE",
    "<javascript:alert(1)>",
    "<path:FILE>",
    "[](path:FILE)",
    "# Heading\n\nHeading\n=======\n\nHeading\n---",
    "(target)=\n% comment\n+++",
    "---\norphan: true\n---",
    "{{ 7 * 7 }} {% include 'FILE' %} {# #}",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#123;download&#125;`FILE`",
    "|a|\n|-|\n|<script>|",
    "term\n: definition\n\n    {download}`FILE`",
    "```\nnever closed",
    "a\n```\n<!--\n```",
    "`never closed",
    "> ```{include} FILE\n> ```",
    "1. # Heading\n2. ```{include} FILE\n   ```",
    "Args:\n    a: b\n\nRaises:\n    c: d",
    f"{'`' * 60}{{include}} FILE\n{'`' * 60}",
    "::::{tab-set}\n:::{tab-item} a\n```{include} FILE\n```\n:::\n::::",
    "[^1]\n\n[^1]: ![](FILE)",
    ".. |a| image:: FILE\n\n|a| {{ a }} {sub-ref}`today` |today|",
    ".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`<script>alert(1)</script>`",
    "<svg/onload=alert(1)></script><script>alert(1)</script><!--> <![CDATA[a]]>",
    "[a](JaVaScRiPt:alert(1)) [a](&#106;avascript:alert(1)) [a](java\nscript:alert(1))",
    "@everyone fixes #1, closes acme/acme#2 [skip ci]",
)
# In Python: quotes, backslashes, comments that are directives, and characters that end lines or reorder them.
_PYTHON = (
    '"""',
    '""""',
    '"',
    '\\"""',
    "\\",
    "\\\\",
    "\\N{BULLET} \\u2028 \\x00 %s {x}",
    '"""\nimport os\nos.abort()\n"""',
    "type: ignore\nruff: noqa\npyright: basic\nmypy: ignore-errors\nfmt: off\n# noqa",
    "\x00\x07\x08\x0b\x0c\x1b[2J\x1b]0;title\x07\x7f\x85\x9b31m",
    "a\rb\r\nc",
    "\u2028 \u2029 \u202e \u2066 \u200b \ufeff \u00ad \U000e0041 \ufffe",
    " \n\t\n ",
    "",
    "x" * 1_000,
    "::error::a",
)
# The messages at the root have copies of their members.
_COPIED = ("AgentResponse", "ClientResponse")
TEXTS = (*_MARKUP, *_PYTHON)


def values(secret: Path, half: int = 0) -> tuple[str, ...]:
    """Return every second hostile text. `secret` is a file to include."""
    return tuple(text.replace("FILE", str(secret)) for text in TEXTS)[half::2]


def texts(secret: Path) -> Iterator[str]:
    """Yield hostile texts without end: alone, behind others, in a paragraph of their own, and twice."""
    shapes = ("{0}", "Fine. {0}", "Fine.\n\n{0}", "{0}\n\n{0}")
    return cycle([shape.format(text.replace("FILE", str(secret))) for text in TEXTS for shape in shapes])


def with_hostile_texts(schema: Schema, secret: Path) -> Schema:
    """Return a schema in which everything that can have a description has hostile ones."""
    data: Schema = json.loads(json.dumps(schema))
    supply = texts(secret)
    for message in data["anyOf"]:
        message["description"] = next(supply)
    for name, definition in data["$defs"].items():
        if name not in _COPIED:
            _describe(definition, supply)
    return data


def _describe(schema: Any, supply: Iterator[str]) -> None:
    if not is_object(schema) or schema.keys() == {"$ref"}:
        return
    schema["description"] = next(supply)
    if "const" in schema and "title" in schema:
        schema["title"] = next(supply)
    for keyword in ("anyOf", "oneOf"):
        for member in schema.get(keyword, ()):
            _describe(member, supply)
    for part in schema.get("properties", {}).values():
        _describe(part, supply)
    for keyword in ("items", "additionalProperties"):
        _describe(schema.get(keyword), supply)


def hostile_definitions(secret: Path, half: int = 0) -> Schema:
    """Return definitions with hostile values: constants, enums, tags, defaults, patterns. The halves have others."""
    hostile, supply = values(secret, half), texts(secret)
    constants = [{"type": "string", "const": text, "title": next(supply)} for text in hostile]
    tags = [f"m{number} {text[:60]}" for number, text in enumerate(hostile)]
    members = [model(["type"], type={"type": "string", "const": tag}) for tag in tags]
    named = list(zip(ascii_lowercase, hostile, strict=False))
    properties = {
        "closed": ref("HostileEnum"),
        "open": ref("HostileOpenEnum"),
        "union": ref("HostileUnion"),
        "literal": {"type": "string", "enum": list(hostile)},
        **{f"text{name}": {**STRING, "default": value} for name, value in named},
        **{f"like{name}": {**STRING, "pattern": re.escape(value)} for name, value in named},
    }
    return {
        "HostileEnum": {"type": "string", "enum": list(hostile)},
        "HostileOpenEnum": {"anyOf": [*constants, {"type": "string", "title": next(supply)}]},
        "HostileUnion": {"oneOf": members, "discriminator": {"propertyName": "type"}},
        "Hostile": model(**properties),
    }
