"""What fails of code for released schemas is what the report calls breaking, and compatibility.md says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.compatibility.check import check_old_code, with_stable_profile
from codegen.compatibility.page import compatibility_page, section, table_row
from codegen.compatibility.releases import group_by_schemas
from codegen.compatibility.results import Result
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
# A release and its profile, with the label of its row: the oldest one, one in between, and one with failures.
SAMPLE = [("1.3.0", STABLE, "1.3.0"), ("1.8.0", STABLE, "1.8.0"), ("2.0.0", "v2_draft", "2.0.0 to 2.0.2")]

pytestmark = [pytest.mark.slow, pytest.mark.stress, pytest.mark.xdist_group("releases")]


def today() -> Side:
    return read_side(str(ROOT / "schema"), ROOT)


def all_releases() -> list[tuple[str, Side]]:
    groups = group_by_schemas(RELEASES, schemas_of)
    return [(each.label, with_stable_profile(side_of(each.versions[0]))) for each in groups]


def sampled() -> list[tuple[str, Side]]:
    sides = [(label, with_stable_profile(side_of(release)), profile) for release, profile, label in SAMPLE]
    return [(label, replace(side, profiles={name: side.profiles[name]})) for label, side, name in sides]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return check_old_code(all_releases() if STRESS else sampled(), today(), PACKAGES)


def test_every_failure_is_predicted_by_a_breaking_finding(results: list[Result]) -> None:
    assert [(each.release, each.profile, each.unpredicted) for each in results if each.unpredicted] == []
    assert any(each.failures for each in results if each.profile != STABLE)


def test_code_for_the_stable_profile_still_runs(results: list[Result]) -> None:
    stable = [each for each in results if each.profile == STABLE]
    assert len(stable) >= 2
    assert all(each.failed == each.only_type_checked for each in stable)


def test_code_for_the_stable_profile_fails_only_where_it_matches_all_members_of_a_union(results: list[Result]) -> None:
    failed = {each.release: each.failed for each in results if each.profile == STABLE}
    assert failed["1.3.0"] == {"match_AuthMethod", "match_SessionUpdate"}
    assert failed["1.8.0"] == set()


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
        side = with_stable_profile(side_of(release))
        schemas = tmp_path / "schemas"
        for name, snapshot in side.profiles.items():
            file = "v1/schema.json" if name == STABLE else snapshot.file
            (schemas / file).parent.mkdir(parents=True, exist_ok=True)
            (schemas / file).write_text(json.dumps(snapshot.raw), "utf-8")
        regenerate(schemas, tmp_path / "generated", pinned=False)
        results = check_old_code([(release, side)], side, [tmp_path / "generated", ROOT / "runtime"])
        assert [(each.failures, each.breaking) for each in results] == [((), ())] * len(side.profiles)
