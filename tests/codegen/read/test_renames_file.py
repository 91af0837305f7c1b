"""`renames.toml`: a mistake in it stops the generator with one sentence, and entries can be added to its text."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.errors import FileError
from codegen.read.renames_file import (
    RENAMES_TOML,
    Rename,
    as_toml,
    check_not_due,
    extended,
    next_major,
    package_version,
    parse_renames,
)

DEFINITION = Rename("definition", ("v1", "v1_unstable"), "Old", "New", "1.0.0")
METHOD = Rename("method", ("v1",), "session/old", "session/new_name", "2.10.0", "agent")


def written(*renames: Rename) -> bytes:
    return "\n\n".join(map(as_toml, renames)).encode()


def entry(**changes: Any) -> bytes:
    """Return an entry with other values. None removes a key."""
    values = {"kind": "definition", "profiles": ["v1"], "old": "Old", "new": "New", "until": "1.0.0"} | changes
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in values.items() if value is not None]
    return "\n".join(["[[renamed]]", *lines]).encode()


def renamed(old: str, new: str, *profiles: str) -> Rename:
    return Rename("definition", profiles or ("v1",), old, new, "1.0.0")


def test_entries_are_read_as_they_are_written() -> None:
    assert parse_renames(written(DEFINITION, METHOD)) == (DEFINITION, METHOD)
    assert parse_renames(b"") == ()


def test_the_example_at_the_top_of_the_file_is_valid() -> None:
    lines = RENAMES_TOML.read_text("utf-8").splitlines()
    example = [line.removeprefix("#   ") for line in lines if line.startswith("#   [[") or " = " in line]
    assert [each.kind for each in parse_renames("\n".join(example).encode())] == ["definition", "method"]


MISTAKES = {
    "not TOML": (b"[[renamed", "Not TOML"),
    "another table": (b"[renamed]\nold = 'Old'", "may only have [[renamed]] tables"),
    "another key": (b"other = 1", "may only have [[renamed]] tables"),
    "no table": (b"renamed = [1]", "entry 1: Expected a table, found 1."),
    "unknown key": (entry(since="1"), "entry 1 ('Old'): Unknown key 'since'; the keys of a definition are kind"),
    "side of a definition": (entry(side="agent"), "Unknown key 'side'"),
    "no side": (entry(kind="method"), "`side` is missing."),
    "unknown side": (entry(kind="method", side="server"), "`side` must be one of agent, client"),
    "missing key": (entry(new=None), "`new` is missing."),
    "unknown kind": (entry(kind="field"), "`kind` must be 'definition' or 'method', found 'field'."),
    "empty name": (entry(new=""), "`new` must be a text, found ''."),
    "number": (entry(old=1), "`old` must be a text, found 1."),
    "no profiles": (entry(profiles=[]), "`profiles` must list some of v1, v1_unstable"),
    "unknown profile": (entry(profiles=["v9"]), "`profiles` must list some of v1, v1_unstable"),
    "a profile twice": (entry(profiles=["v1", "v1"]), "each once, found ['v1', 'v1']"),
    "nested profiles": (entry(profiles=[["v1"]]), "`profiles` must list"),
    "text for profiles": (entry(profiles="v1"), "`profiles` must list"),
    "version": (entry(until="1.0"), "`until` must be a version such as '1.0.0', found '1.0'."),
    "same name": (entry(new="Old"), "`old` and `new` are the same name."),
    "twice": (
        written(renamed("Old", "New", "v1", "v2_draft"), renamed("Old", "Newer", "v2_draft")),
        "definition 'Old': A second entry has this old name in v2_draft. Remove one of them.",
    ),
    "chain": (
        written(renamed("A", "B"), renamed("B", "C"), renamed("C", "D")),
        "definition 'A': 'B' was renamed, too, in v1. Write new = \"D\".",
    ),
    "circle": (
        written(renamed("A", "B"), renamed("B", "A")),
        "definition 'A': The renames lead in a circle: B, A, B. Remove one of them.",
    ),
    "chain into a circle": (
        written(renamed("A", "B"), renamed("B", "C"), renamed("C", "B")),
        "definition 'A': The renames lead in a circle: B, C, B. Remove one of them.",
    ),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_reported_in_one_line_that_names_the_file_and_the_entry(content: bytes, message: str) -> None:
    with pytest.raises(FileError) as raised:
        parse_renames(content)
    text = str(raised.value)
    assert text.startswith("codegen/renames.toml")
    assert message in text
    assert "\n" not in text


def test_the_same_name_in_other_profiles_sides_or_kinds_is_another_name() -> None:
    entries = [
        renamed("Old", "New", "v1"),
        renamed("Old", "Newer", "v2_draft"),
        renamed("New", "Old", "v2_draft_unstable"),
        Rename("method", ("v1",), "Old", "New", "1.0.0", "agent"),
        Rename("method", ("v1",), "New", "Old", "1.0.0", "client"),
    ]
    assert parse_renames(written(*entries)) == tuple(entries)


@pytest.mark.parametrize("version", ["1.0.0", "1.0.0rc1", "1.2.0", "10.0.0"])
def test_an_entry_that_is_due_is_refused(version: str) -> None:
    with pytest.raises(FileError, match=rf"'Old': The name goes in 1\.0\.0, and this is version {version}\. Remove"):
        check_not_due([DEFINITION], version)


def test_an_entry_is_kept_before_its_version() -> None:
    check_not_due([DEFINITION, METHOD], "0.99.9")
    check_not_due([METHOD], "2.9.0")


def test_the_next_major_version_follows_that_of_the_package() -> None:
    assert (next_major("0.1.0"), next_major("3.4.5")) == ("1.0.0", "4.0.0")
    assert next_major(package_version())


def test_entries_are_added_at_the_end_of_the_text() -> None:
    text = RENAMES_TOML.read_text("utf-8")
    once = extended(text, [DEFINITION])
    twice = extended(once, [METHOD])
    assert once.startswith(text)
    assert twice.startswith(once)
    assert parse_renames(twice.encode()) == (*parse_renames(text.encode()), DEFINITION, METHOD)


def test_an_added_entry_can_not_start_a_chain() -> None:
    with pytest.raises(FileError, match=r'Write new = "Newest"\.'):
        extended(written(DEFINITION).decode(), [renamed("New", "Newest")])
