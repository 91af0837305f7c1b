"""Text of the schema stays text: one hostile schema through every output. The documentation has a test of its own."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import pydoc
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from markdown_it import MarkdownIt

from codegen.__main__ import main
from codegen.diff.render.json import write_json
from codegen.diff.render.markdown import write_markdown
from codegen.diff.report import Report, compare
from codegen.diff.sources import read_side
from codegen.escaping import inert_code, markdown
from codegen.upgrade.changelog import add_entry, write_entry
from codegen.upgrade.schemas import Schemas
from codegen.upgrade.summary import Changes, summarise
from tests.codegen.hostile_text import SECRET, hostile_definitions, values, with_hostile_texts
from tests.support.codegen.build import STRING, Schema, model, part_of, ref, write_schema
from tests.support.codegen.generating import Generate
from tests.support.codegen.pinning import pin
from tests.support.codegen.refusal_base import BASE, changed

pytestmark = pytest.mark.xdist_group("hostile text")

# Characters that can't be seen or that change how others are displayed. `\N{ZERO WIDTH SPACE}` is ours.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)


def hostile(secret: Path, half: int = 0) -> Schema:
    request = part_of("session/new", "agent", model(["cwd"], cwd=STRING, hostile=ref("Hostile")))
    return with_hostile_texts(changed(**hostile_definitions(secret, half), NewRequest=request), secret)


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that must not be included anywhere."""
    path = tmp_path_factory.mktemp("maintainer") / "secret.txt"
    path.write_text(SECRET, "utf-8")
    return path


@pytest.fixture(scope="module")
def package(generate_once: Generate, secret: Path) -> ModuleType:
    return generate_once(hostile(secret))


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(module.name)


def test_generated_code_has_no_unsafe_characters_and_no_directives(package: ModuleType) -> None:
    for module in modules(package):
        source = Path(module.__file__ or "").read_text("utf-8")
        assert not UNSAFE.search(source)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(source)
        inside = {line for node in ast.walk(tree) if isinstance(node, ast.Constant) for line in lines_of(node)}
        comments = [line for number, line in enumerate(source.splitlines(), 1) if number not in inside]
        assert not [line for line in comments if re.match(r"\s*#\s*(type|ruff|pyright|mypy|fmt|noqa)\b", line)]


def lines_of(node: ast.Constant) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def test_help_shows_descriptions_without_unsafe_characters(package: ModuleType) -> None:
    shown = [pydoc.plain(pydoc.render_doc(getattr(package, name))) for name in ("Agent", "RemoteAgent", "Hostile")]
    assert "{include}" in "".join(shown)
    assert not any(map(UNSAFE.search, shown))


def test_hostile_texts_of_enums_and_defaults_are_kept(package: ModuleType, secret: Path) -> None:
    expected = values(secret)
    assert get_args(package.HostileEnum) == expected
    for value in expected:
        message = {"closed": value, "open": value, "literal": value}
        assert json.loads(package.Hostile.model_validate(message).model_dump_json()) == message
    parsed = package.Hostile()
    defaults = [getattr(parsed, name) for name in package.Hostile.model_fields if name.startswith("text")]
    assert defaults == list(expected[: len(defaults)])


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, secret: Path) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("sides")
    base, head = (write_schema(folder / str(half), hostile(secret, half)) for half in (0, 1))
    for side in (base, head):
        pin(side)
    return base, head


@pytest.fixture(scope="module")
def report(sides: tuple[Path, Path]) -> Report:
    base, head = (read_side(str(side), side) for side in sides)
    return compare(base, head)


@pytest.mark.parametrize("render", [write_markdown, write_json], ids=["markdown", "json"])
def test_a_report_shows_hostile_values_as_text(report: Report, render: Callable[[Report], str]) -> None:
    text = render(report)
    assert "script>" in text or "script&gt;" in text
    assert not UNSAFE.search(text)
    if render is write_json:
        assert json.loads(text)["findings"]
    else:
        assert not re.search(r"@everyone|fixes #1|closes acme|\[skip ci]", text)
        assert not {"image", "link_open", "html_inline", "fence", "code_block"} & tokens(text)


def tokens(text: str) -> set[str]:
    """Return the kinds of parts that Markdown has."""
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    return {part.type for token in parsed for part in (token, *(token.children or ()))}


def test_the_changelog_and_the_summary_of_an_upgrade_show_it_as_text(sides: tuple[Path, Path], report: Report) -> None:
    log = add_entry(
        "# Changelog\n\n## 1.0.0 (unreleased)\n", "1.0.0", write_entry(report, "npm:sdk@1.1.0", "npm:sdk@1.2.0")
    )
    schemas = Schemas(*sides, "npm:sdk@1.2.0", [], {}, {}, "", {}, "1.0.0")
    out = summarise(schemas, Changes(report, "1.0.0", {}, {}), [])
    assert report.findings
    assert not UNSAFE.search(out + log)
    assert not re.search(r"^\s*(::|```)", out, re.MULTILINE)
    assert not {"image", "link_open", "html_block", "html_inline", "fence", "code_block"} & tokens(log)
    assert max(map(len, log.splitlines())) < 400
    headings = [line for line in log.splitlines() if line.startswith("#")]
    assert headings == ["# Changelog", "## 1.0.0 (unreleased)", "### Schema"]


@pytest.mark.parametrize("text", ["agent nes/close request", "- agent request nes/close: params A, result B"])
def test_a_method_that_is_called_close_is_written_as_it_is_called(text: str) -> None:
    assert inert_code(text) == f"`{text}`"


@pytest.mark.parametrize("text", ["closes #1", "closes acme/acme#1", "Fix: https://x.example/issues/1", "fixes GH-1"])
def test_words_that_close_an_issue_do_not(text: str) -> None:
    assert not re.search(r"(?i)(close|fix)(e?s)?:? (#\w|\w\S*1)", inert_code(text))


NAMES = (
    "session/<script>",
    "session/`{include}`",
    "session/new\n::error::",
    "session/\u202e",
    "session new",
    "x" * 300,
)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_method_with_another_name_than_words_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    schema = json.loads(json.dumps(BASE).replace('"session/new"', json.dumps(name)))
    options = ["--schema", str(write_schema(tmp_path / "schema", schema)), "--output", str(tmp_path / "generated")]
    assert main(["regen", *options]) != 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert not UNSAFE.search(error)


# Markdown and reStructuredText of the documentation


PLAIN = (
    "Some `code` with `{}`, **strong** and *emphasised* text.\n\nSee [the docs](https://example.com/a_(b)).",
    "A list:\n\n- one `a`\n- two\n  - three\n\n1. one\n2. two",
    "Code:\n\n```\n<script> {include} [a](b)\n```\n\nMore.",
    "Some (text), with: punctuation; 3 > 2, a & b, 100 %, _meta, $/x, a_b, #1, `a | b`.",
)


@pytest.mark.parametrize("text", PLAIN, ids=["inline", "lists", "code", "punctuation"])
def test_the_markdown_that_upstream_uses_is_kept(text: str) -> None:
    assert markdown(text) == text


def test_the_language_of_code_is_left_out() -> None:
    assert markdown("Code:\n\n```json\n{}\n```") == "Code:\n\n```\n{}\n```"


SHOWN = {
    "a <b> c": r"a \<b\> c",
    "{include}`a`": r"\{include\}\`a\`",
    "# a\n\n    b": "\\# a\n\nb",
    "![](https://x)": r"\!\[\]\(https\:\/\/x\)",
    "[a](b.md)": r"\[a\]\(b\.md\)",
    ": a": r"\: a",
}


@pytest.mark.parametrize(("text", "expected"), SHOWN.items())
def test_any_other_markdown_is_shown_as_it_is(text: str, expected: str) -> None:
    assert markdown(text) == expected
