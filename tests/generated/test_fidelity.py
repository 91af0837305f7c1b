"""Instances are accepted or refused as upstream's schema says, and dumped unchanged."""

from __future__ import annotations

from collections.abc import Iterable

from tests.support.models.oracle import same_json
from tests.support.models.outcomes import EACH_KIND_AT_LEAST, Outcome, outcomes
from tests.support.models.profiles import Profile


def assert_none(wrong: Iterable[Outcome]) -> None:
    wrong = list(wrong)
    names = ", ".join(sorted({each.definition for each in wrong}))
    shown = "\n".join(map(str, sorted(wrong, key=lambda each: len(str(each)))[:5]))
    assert not wrong, f"{len(wrong)} instances of {names}, the shortest:\n{shown}"


def test_every_definition_has_a_public_name_unless_it_is_a_whole_message(profile: Profile) -> None:
    assert set(profile.definitions) <= set(profile.module.__all__)
    whole = set(profile.schema["$defs"]) - set(profile.definitions)
    assert {"AgentRequest", "ClientResponse"} <= whole
    assert not [name for name in whole if hasattr(profile.module, name)]


def test_there_are_many_instances_of_every_definition(profile: Profile) -> None:
    found = outcomes(profile)
    assert sum(each.valid for each in found) >= EACH_KIND_AT_LEAST
    assert sum(not each.valid for each in found) >= EACH_KIND_AT_LEAST
    assert {each.definition for each in found if each.valid} == set(profile.definitions)


def test_every_valid_instance_is_accepted(profile: Profile) -> None:
    assert_none(each for each in outcomes(profile) if each.valid and not each.accepted)


def test_an_invalid_instance_is_accepted_only_if_its_invalid_parts_may_fall_back(profile: Profile) -> None:
    assert_none(each for each in outcomes(profile) if each.accepted and not each.tolerable)


def test_an_instance_that_is_valid_after_fallbacks_is_accepted(profile: Profile) -> None:
    assert_none(each for each in outcomes(profile) if each.tolerable and not each.accepted)


def test_every_accepted_instance_is_dumped_to_equal_json_after_fallbacks(profile: Profile) -> None:
    accepted = [each for each in outcomes(profile) if each.accepted]
    assert_none(each for each in accepted if not same_json(each.dumped, each.tolerated))
