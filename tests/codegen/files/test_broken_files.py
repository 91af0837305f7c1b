"""A file that codegen needs and that is broken or missing is one line on stderr, and changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codegen.__main__ import ROOT
from tests.support.codegen.refusal_base import BASE
from tests.support.codegen_copy import Copy, codegen_copy

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("broken files")]

Break = Callable[[Path], object]
TEMPLATES = sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / "codegen/emit/templates").rglob("*") if path.is_file()
)
ONE_OF_A_KIND = [
    f"codegen/emit/templates/{name}"
    for name in ("modules/role.py.jinja", "pydantic_v2/BaseModel.jinja2", "outline/TypeAliasType.jinja2")
]
METHODS, STYLE, SCHEMA, PINS = (
    "codegen/methods.toml",
    "codegen/emit/generated_style.toml",
    "schema/v1/schema.json",
    "schema/PINNED.json",
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    with codegen_copy(tmp_path_factory.mktemp("copy"), BASE) as found:
        yield found


def append(text: str) -> Break:
    return lambda path: path.write_text(path.read_text("utf-8") + text, "utf-8")


def become(content: bytes) -> Break:
    return lambda path: path.write_bytes(content)


def replaced(old: str, new: str) -> Break:
    return lambda path: path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


ANY: dict[str, Break] = {
    "missing": Path.unlink,
    "a folder": become_a_folder,
    "bytes that are no text": become(b"\xff\xfe\xfa"),
}
TEMPLATE: dict[str, Break] = {
    "a tag that isn't closed": append("\n{% if true %}"),
    "a tag that there isn't": append("\n{% nothing %}"),
    "a filter that there isn't": append("\n{{ 1 | nothing }}"),
    "an undefined name": append("\n{{ nothing }}"),
    "an undefined name in a condition": append("\n{% if nothing %}{% endif %}"),
}
TOML: dict[str, Break] = {
    "truncated": append("\n[v1.agent"),
    "a key twice": append("\na = 1\na = 2\n"),
    "a conflict": append("\n<<<<<<< HEAD\n"),
    "nested too deep": append(f"\na = {'[' * 100_000}\n"),
}
LINES: dict[str, Break] = {
    "a version that there isn't": append('\n[v9.agent]\n"x/y" = { baseline = true }\n'),
    "a side that there isn't": append('\n[v1.agnet]\n"x/y" = { baseline = true }\n'),
    "a table that is a text": become(b'v1 = "agent"\n'),
    "a side that is a list": become(b"[v1]\nagent = []\n"),
    "nothing that all methods have in common": replaced('session = "sessionId"\n', ""),
    "another type of what all methods have in common": replaced('session = "sessionId"', "session = 5"),
    "a line of no method here that is a number": append('\n"x/y" = 5\n'),
    "a line of no method here with an unknown key": append('\n"x/y" = { basline = true }\n'),
}
JSON: dict[str, Break] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "empty": become(b""),
    "a list": become(b"[]"),
    "another byte": append("\n"),
    "UTF-16": lambda path: path.write_bytes(path.read_bytes().decode().encode("utf-16")),
}
BREAKS = {
    # One template of each kind in every way, the others in one way.
    **{f"{name}: {how}": (name, each) for name in ONE_OF_A_KIND for how, each in (ANY | TEMPLATE).items()},
    **{f"{name}: an undefined name": (name, TEMPLATE["an undefined name"]) for name in TEMPLATES},
    **{f"{METHODS}: {how}": (METHODS, each) for how, each in (ANY | TOML | LINES).items()},
    **{f"{STYLE}: {how}": (STYLE, each) for how, each in (ANY | TOML).items()},
    **{f"{SCHEMA}: {how}": (SCHEMA, each) for how, each in (ANY | JSON).items()},
    **{f"{PINS}: {how}": (PINS, each) for how, each in (ANY | JSON).items() if how != "another byte"},
}


@pytest.fixture
def broken(copy: Copy, request: pytest.FixtureRequest) -> Iterator[str]:
    """The file that is broken. It is mended afterwards."""
    name, change = request.param
    path = copy.root / name
    kept = path.read_bytes()
    change(path)
    yield name
    if path.is_dir():
        shutil.rmtree(path)
    path.write_bytes(kept)


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS, indirect=True)
def test_a_broken_file_is_one_line_that_names_it(copy: Copy, broken: str) -> None:
    before = copy.files()
    ran = copy.run("regen")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert ran.err.startswith("codegen: ")
    assert "mistake in codegen" not in ran.err
    assert Path(broken).name in ran.err
    assert copy.files() == before


@pytest.mark.parametrize("command", ["check", "diff"])
@pytest.mark.parametrize(
    "broken", [BREAKS[f"{file}: missing"] for file in (METHODS, SCHEMA)], ids=[METHODS, SCHEMA], indirect=True
)
def test_the_other_commands_say_so_too(copy: Copy, broken: str, command: str) -> None:
    before = copy.files()
    ran = copy.run(*(["check"] if command == "check" else ["diff", "--base", "schema"]))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert Path(broken).name in ran.err
    assert copy.files() == before


REPORT = "codegen/diff/render/report.html.jinja"


@pytest.mark.parametrize(
    "broken",
    [(REPORT, each) for each in (ANY | TEMPLATE).values()],
    ids=[*ANY, *TEMPLATE],
    indirect=True,
)
def test_the_template_of_the_page_may_be_broken_too(copy: Copy, broken: str) -> None:
    ran = copy.run("diff", "--base", "schema", "--format", "html")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert Path(broken).name in ran.err
    assert "mistake in codegen" not in ran.err
