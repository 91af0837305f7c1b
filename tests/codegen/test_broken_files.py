"""A broken or missing file of the generator gives one line on stderr, and changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.codegen_copy import Copy

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("codegen copy")]

Break = Callable[[Path], object]
# One that the generator renders, and one that datamodel-code-generator renders.
ONE_OF_A_KIND = [f"codegen/emit/templates/{name}" for name in ("modules/role.py.jinja", "pydantic_v2/BaseModel.jinja2")]
METHODS, RENAMES, STYLE, SCHEMA, PINS = (
    "codegen/methods.toml",
    "codegen/renames.toml",
    "codegen/emit/generated_style.toml",
    "schema/v1/schema.json",
    "schema/PINNED.json",
)


@pytest.fixture
def copy(shared_copy: Copy) -> Copy:
    return shared_copy


def append(text: str) -> Break:
    return lambda path: path.write_text(path.read_text("utf-8") + text, "utf-8")


def become(content: bytes) -> Break:
    return lambda path: path.write_bytes(content)


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


ANY: dict[str, Break] = {
    "missing": Path.unlink,
    "a folder": become_a_folder,
    "bytes that are not text": become(b"\xff\xfe\xfa"),
}
TEMPLATE: dict[str, Break] = {
    "an unclosed tag": append("\n{% if true %}"),
    "an unknown tag": append("\n{% nothing %}"),
    "an unknown filter": append("\n{{ 1 | nothing }}"),
    "an undefined name": append("\n{{ nothing }}"),
    "an undefined name in a condition": append("\n{% if nothing %}{% endif %}"),
}
TOML: dict[str, Break] = {
    "truncated": append("\n[v1.agent"),
    "a duplicate key": append("\na = 1\na = 2\n"),
    "a merge conflict": append("\n<<<<<<< HEAD\n"),
    "nested too deeply": append(f"\na = {'[' * 100_000}\n"),
}
ENTRIES: dict[str, Break] = {
    "a text for a version": become(b'v1 = "agent"\n'),
    "a list for a side": become(b"[v1]\nagent = []\n"),
    "an unknown key in an entry of an unknown method": append('\n"x/y" = { basline = true }\n'),
}
JSON: dict[str, Break] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "empty": become(b""),
    "a list": become(b"[]"),
    "an added byte": append("\n"),
    "UTF-16": lambda path: path.write_bytes(path.read_bytes().decode().encode("utf-16")),
}
BREAKS = {
    # One file of each kind is broken in every way.
    **{f"{name}: {how}": (name, change) for name in ONE_OF_A_KIND for how, change in (ANY | TEMPLATE).items()},
    **{f"{METHODS}: {how}": (METHODS, change) for how, change in (ANY | TOML | ENTRIES).items()},
    f"{RENAMES}: missing": (RENAMES, Path.unlink),
    f"{RENAMES}: an unknown key": (RENAMES, append("\n[[renamed]]\nkin = 1\n")),
    f"{STYLE}: missing": (STYLE, Path.unlink),
    f"{STYLE}: truncated": (STYLE, TOML["truncated"]),
    **{f"{SCHEMA}: {how}": (SCHEMA, change) for how, change in (ANY | JSON).items()},
    **{f"{PINS}: {how}": (PINS, change) for how, change in (ANY | JSON).items() if how != "an added byte"},
}


@pytest.fixture
def broken(copy: Copy, request: pytest.FixtureRequest) -> Iterator[str]:
    """Breaks a file, gives its name, and restores it afterwards."""
    name, change = request.param
    path = copy.root / name
    kept = path.read_bytes()
    change(path)
    yield name
    if path.is_dir():
        shutil.rmtree(path)
    path.write_bytes(kept)


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS, indirect=True)
def test_regen_names_a_broken_file_in_one_line(copy: Copy, broken: str) -> None:
    before = copy.files()
    ran = copy.run("regen")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert ran.err.startswith("codegen: ")
    assert "bug in codegen" not in ran.err
    assert Path(broken).name in ran.err
    assert copy.files() == before


@pytest.mark.parametrize("command", ["check", "diff"])
@pytest.mark.parametrize(
    "broken", [BREAKS[f"{file}: missing"] for file in (METHODS, SCHEMA)], ids=[METHODS, SCHEMA], indirect=True
)
def test_check_and_diff_name_a_broken_file_in_one_line(copy: Copy, broken: str, command: str) -> None:
    before = copy.files()
    ran = copy.run(*(["check"] if command == "check" else ["diff", "--base", "schema"]))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert Path(broken).name in ran.err
    assert copy.files() == before
