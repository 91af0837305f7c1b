"""What fails of code for released schemas is what the report calls breaking, and compatibility.md says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.compatibility.check import Result, check_old_code
from codegen.compatibility.command import compatibility_page, group_by_schemas, section, table_row
from codegen.diff.report import STABLE
from codegen.diff.sources import Side, read_side
from codegen.pinned.pins import PINS, read_pins
from codegen.regen import regenerate
from tests.support.diff.released import side_of
from tests.support.paths import ROOT
from tests.support.releases import DIFFERENT, RELEASES, schemas_of
from tests.support.scale import STRESS

PAGE = (ROOT / "docs/project/compatibility.md").read_text("utf-8")
PACKAGES = [ROOT / "generated", ROOT / "runtime"]
# The oldest release with a stable profile, and the label of its row. `make stress` checks all releases and profiles.
SAMPLE, LABEL = "2.0.0", "2.0.0 to 2.0.2"
UNSTABLE = f"{STABLE}_unstable"  # it has the definitions of the stable profile, too

pytestmark = [pytest.mark.slow, pytest.mark.stress, pytest.mark.xdist_group("releases")]


def all_releases() -> list[tuple[str, Side]]:
    groups = group_by_schemas(RELEASES, schemas_of)
    return [(label, side_of(label.split()[0])) for label in groups]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    side = side_of(SAMPLE)
    sample = (LABEL, replace(side, profiles={UNSTABLE: side.profiles[UNSTABLE]}))
    return check_old_code(all_releases() if STRESS else [sample], read_side(str(ROOT / "schema"), ROOT), PACKAGES)


def test_every_failure_is_predicted_by_a_breaking_finding(results: list[Result]) -> None:
    assert [(each.release, each.profile, each.unpredicted) for each in results if each.unpredicted] == []
    assert any(each.failures for each in results if each.profile != STABLE)


def test_the_page_is_what_the_command_writes(results: list[Result]) -> None:
    if STRESS:
        assert compatibility_page(results, read_pins(ROOT / "schema" / PINS)["version"]) == PAGE
    for each in results:
        assert not each.failures or section(each) in PAGE
        share = table_row(each.release, [each], [each.profile]).split(" | ")[1].removesuffix(" |")
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| {each.release} | ")]
        assert row.strip("| ").split(" | ")[_column(each.profile)] == share


def _column(profile: str) -> int:
    header = next(line for line in PAGE.splitlines() if line.startswith("| Schema of release |"))
    return header.strip("| ").split(" | ").index(f"`{profile}`")


if STRESS:  # it generates the bindings of all releases

    @pytest.mark.parametrize("release", DIFFERENT)
    def test_old_code_is_right_for_its_own_bindings(release: str, tmp_path: Path) -> None:
        side = side_of(release)
        regenerate(schemas_of(release), tmp_path / "generated", pinned=False)
        results = check_old_code([(release, side)], side, [tmp_path / "generated", ROOT / "runtime"])
        assert [each.failures for each in results] == [{}] * len(side.profiles)
