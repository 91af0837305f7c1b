"""`renames.toml`: a mistake in it stops the generator with one sentence, and entries can be added to its text."""

from __future__ import annotations

import re
from typing import Any

import pytest

from codegen.data.renames import (
    RENAMES_TOML,
    Rename,
    check_not_due,
    next_major,
    parse_renames,
    read_package_version,
    to_toml,
)
from codegen.errors import FileError

DEFINITION = Rename(("v1", "v1_unstable"), "Old", "New", "1.0.0")
OTHER = Rename(("v1",), "Älter", "Newest", "2.10.0")


def written(*renames: Rename) -> bytes:
    return "\n\n".join(map(to_toml, renames)).encode()


def entry(**changes: Any) -> bytes:
    """Return an entry with other values. None removes a key."""
    values = {"profiles": ["v1"], "old": "Old", "new": "New", "until": "1.0.0"} | changes
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in values.items() if value is not None]
    return "\n".join(["[[renamed]]", *lines]).encode()


def renamed(old: str, new: str, *profiles: str) -> Rename:
    return Rename(profiles or ("v1",), old, new, "1.0.0")


def test_entries_are_read_as_they_are_written() -> None:
    assert parse_renames(written(DEFINITION, OTHER)) == (DEFINITION, OTHER)
    assert parse_renames(b"") == ()


def test_the_example_at_the_top_of_the_file_is_valid() -> None:
    example = re.findall(r"^#   (\[\[.*|\w+ = .*)", RENAMES_TOML.read_text("utf-8"), re.MULTILINE)
    assert [rename.new for rename in parse_renames("\n".join(example).encode())] == ["SetSessionModeRequest"]


MISTAKES = {
    "not TOML": (b"[[renamed", ": Not TOML"),
    "another table": (
        b"[renamed]\nold = 'Old'",
        "#/renamed: Expected a list, found {'old': 'Old'}. The top of the file",
    ),
    "unknown key": (entry(since="1"), "#/renamed/0/since: There is no such key."),
    "missing key": (entry(new=None), "#/renamed/0/new: The key is missing."),
    "empty name": (entry(new=""), "#/renamed/0/new: String should have at least 1 character, found ''."),
    "no profiles": (entry(profiles=[]), "#/renamed/0/profiles: "),
    "unknown profile": (entry(profiles=["v9"]), "#/renamed/0: Expected some of v1, v1_unstable"),
    "a profile twice": (entry(profiles=["v1", "v1"]), "in `profiles`, each once."),
    "version": (entry(until="1.0"), "#/renamed/0/until: String should match pattern"),
    "same name": (entry(new="Old"), "#/renamed/0: `old` and `new` are the same name."),
    "twice": (
        written(renamed("Old", "New", "v1", "v2_draft"), renamed("Old", "Newer", "v2_draft")),
        "definition 'Old': A second entry has this old name in v2_draft. Remove one of them.",
    ),
    "chain": (
        written(renamed("A", "B"), renamed("B", "C")),
        "definition 'A': 'B' was also renamed in v1. Write new = \"C\", or remove an entry.",
    ),
    "circle": (
        written(renamed("A", "B"), renamed("B", "A")),
        "definition 'A': 'B' was also renamed in v1. Write new = \"A\", or remove an entry.",
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


def test_the_same_name_in_other_profiles_is_another_name() -> None:
    entries = [
        renamed("Old", "New", "v1"),
        renamed("Old", "Newer", "v2_draft"),
        renamed("New", "Old", "v2_draft_unstable"),
    ]
    assert parse_renames(written(*entries)) == tuple(entries)


@pytest.mark.parametrize("version", ["1.0.0", "1.0.0rc1", "1.2.0", "10.0.0"])
def test_an_entry_that_is_due_is_refused(version: str) -> None:
    with pytest.raises(FileError, match=rf"The old name ends with 1\.0\.0, and this is version {version}\. Remove"):
        check_not_due([DEFINITION], version)


def test_an_entry_is_kept_before_its_version() -> None:
    check_not_due([DEFINITION, OTHER], "0.99.9")
    check_not_due([OTHER], "2.9.0")


def test_the_next_major_version_follows_the_packages() -> None:
    assert (next_major("0.1.0"), next_major("3.4.5")) == ("1.0.0", "4.0.0")
    assert next_major(read_package_version())


def test_written_entries_can_be_added_to_the_file() -> None:
    text = RENAMES_TOML.read_text("utf-8")
    longer = "\n\n".join([text, to_toml(DEFINITION), to_toml(OTHER)])
    assert parse_renames(longer.encode()) == (*parse_renames(text.encode()), DEFINITION, OTHER)
