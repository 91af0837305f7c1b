"""Which releases are compared, and which of them share a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.compatibility.command import group_by_schemas, released_schemas, released_versions
from tests.support.releases import RELEASES, SAME, schemas_of, why_unavailable
from tests.support.skipping import skip_or_fail


def test_releases_in_a_row_with_the_same_schemas_share_an_entry(tmp_path: Path) -> None:
    def schemas(version: str) -> Path:
        folder = tmp_path / version
        folder.mkdir(exist_ok=True)
        (folder / "schema.json").write_text({"1.3.0": "a", "1.4.0": "b", "1.5.0": "b", "1.6.0": "a"}[version])
        (folder / "README.md").write_text(version)
        return folder

    found = group_by_schemas(["1.3.0", "1.4.0", "1.5.0", "1.6.0"], schemas)
    assert {label: folder.name for label, folder in found.items()} == {
        "1.3.0": "1.3.0",
        "1.4.0 to 1.5.0": "1.4.0",
        "1.6.0": "1.6.0",
    }


@pytest.mark.slow
@pytest.mark.xdist_group("releases")
def test_npms_releases_are_those_that_the_tests_know() -> None:
    if why_unavailable():
        skip_or_fail("peers", why_unavailable())
    assert released_versions(RELEASES[-1]) == RELEASES
    grouped = group_by_schemas(RELEASES, schemas_of)
    assert [label.split()[0] for label in grouped] == [each for each in RELEASES if each not in SAME]


@pytest.mark.slow
@pytest.mark.xdist_group("releases")
def test_a_release_is_downloaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why_unavailable():
        skip_or_fail("peers", why_unavailable())
    found = released_schemas("1.3.0", tmp_path)
    assert found == tmp_path / "1.3.0"
    for file in found.rglob("*.json"):
        assert file.read_bytes() == (schemas_of("1.3.0") / file.relative_to(found)).read_bytes()
    monkeypatch.setenv("PATH", "")  # without npm
    assert released_schemas("1.3.0", tmp_path) == found
