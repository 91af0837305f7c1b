"""The version that an upgrade raises, and the section of the changelog that it writes to."""

from __future__ import annotations

import pytest

from codegen.errors import FileError
from codegen.upgrade.changelog import add_entry, find_released_versions, next_version, read_version, set_version

# The present version, the released ones, the recommended bump, and the next version.
VERSIONS = {
    "nothing is released": ("0.1.0", [], "major", "0.1.0"),
    "breaking": ("1.2.3", ["1.2.3"], "major", "2.0.0"),
    "new": ("1.2.3", ["1.2.3"], "minor", "1.3.0"),
    "descriptions": ("1.2.3", ["1.2.3"], "patch", "1.2.4"),
    "nothing": ("1.2.3", ["1.2.3"], "none", "1.2.3"),
    "breaking before 1.0": ("0.2.3", ["0.2.3"], "major", "0.3.0"),
    "new before 1.0": ("0.2.3", ["0.2.3"], "minor", "0.2.4"),
    "descriptions before 1.0": ("0.2.3", ["0.2.3"], "patch", "0.2.4"),
    "raised enough already": ("1.3.0", ["1.2.3"], "minor", "1.3.0"),
    "raised more already": ("2.0.0", ["1.2.3"], "minor", "2.0.0"),
    "not raised enough": ("1.2.4", ["1.2.3"], "minor", "1.3.0"),
    "the newest release counts": ("1.10.0", ["1.9.0", "1.10.0", "1.2.0"], "minor", "1.11.0"),
    "other tags are ignored": ("1.2.3", ["1.2.3", "2.0.0rc1", "iew"], "patch", "1.2.4"),
}


@pytest.mark.parametrize(("current", "released", "bump", "expected"), VERSIONS.values(), ids=VERSIONS)
def test_the_version_is_raised_relative_to_the_last_release(
    current: str, released: list[str], bump: str, expected: str
) -> None:
    assert next_version(current, released, bump) == expected


def test_a_version_of_another_form_is_refused() -> None:
    with pytest.raises(FileError, match=r"The version '1\.0\.0rc1' is not <major>\.<minor>\.<patch>"):
        next_version("1.0.0rc1", [], "minor")


PYPROJECT = '[project]\nname = "x"\nversion = "1.2.3"\n\n[tool.x]\nminimum = "1.2.3"\n'


def test_only_the_version_in_pyproject_toml_is_replaced() -> None:
    assert read_version(PYPROJECT) == "1.2.3"
    assert set_version(PYPROJECT, "1.10.0") == PYPROJECT.replace('version = "1.2.3"', 'version = "1.10.0"')


UNFIT = [
    '[tool.x]\nversion = "1"\n',
    f'{PYPROJECT}version = "1.2.3"\n',
    "[project]\n",
    'project = 1\nversion = "1"\n',
    f"{PYPROJECT}]",
]


@pytest.mark.parametrize("text", UNFIT)
def test_a_pyproject_toml_without_one_version_is_refused(text: str) -> None:
    with pytest.raises(FileError, match="Correct the file"):
        read_version(text)


# The changelog

OLD = "## 1.2.0 (2026-10-01)\n\n- Old, with the schema in `sdk` 1.0.0.\n\n## 1.1.0\n\n- Older.\n"
NEW = "## 1.3.0 (unreleased)\n\n- New, with the schema in\n  `sdk` 1.0.0.\n\n### Fixes\n\n- One.\n\n"
ENTRY = "- The schema is that of `sdk` 2.0.0. Before, it was\n  another.\n  - `v1`: no changes."
PART = f"### Schema\n\n{ENTRY}\n"


def test_sections_without_the_word_unreleased_belong_to_releases() -> None:
    assert find_released_versions(f"# Changelog\n\n{NEW}{OLD}") == ["1.2.0", "1.1.0"]


def test_after_a_release_the_entry_gets_a_new_section() -> None:
    assert add_entry(f"# Changelog\n\n{OLD}", "1.3.0", ENTRY) == (
        f"# Changelog\n\n## 1.3.0 (unreleased)\n\n{PART}\n{OLD}"
    )


def test_an_unreleased_section_gets_the_entry_and_the_version() -> None:
    changed = NEW.replace("1.3.0", "2.0.0")
    assert add_entry(f"{NEW}{OLD}", "2.0.0", ENTRY) == f"{changed}{PART}\n{OLD}"


def test_an_empty_changelog_gets_a_section() -> None:
    assert add_entry("", "0.1.0", ENTRY) == f"## 0.1.0 (unreleased)\n\n{PART}"


def test_entries_of_several_upgrades_are_one_list() -> None:
    other = ENTRY.replace("2.0.0", "2.1.0")
    once = add_entry(f"{NEW}{OLD}", "1.3.0", ENTRY)
    assert add_entry(once, "1.3.0", other) == once.replace(ENTRY, f"{ENTRY}\n{other}")


def test_an_entry_for_the_same_release_is_replaced() -> None:
    other = ENTRY.replace("no changes", "a change")
    once = add_entry(add_entry(NEW, "1.3.0", ENTRY), "1.3.0", ENTRY.replace("2.0.0", "2.1.0"))
    again = add_entry(once, "1.3.0", other)
    assert again.count("2.0.0") == 1
    assert again.endswith(f"{other}\n")
    assert add_entry(again, "1.3.0", other) == again


def test_later_parts_of_the_section_stay_behind_the_schema() -> None:
    text = f"{NEW}{PART}\n### Tools\n\n- One.\n"
    assert add_entry(text, "1.3.0", ENTRY) == text
