"""Instances are accepted or refused as upstream's schema says, and dumped unchanged."""

from __future__ import annotations

from collections.abc import Iterable

from tests.support.models.oracle import same_json
from tests.support.models.outcomes import EACH_KIND_AT_LEAST, Outcome, outcomes
from tests.support.models.profiles import Profile


def assert_none(wrong: Iterable[Outcome]) -> None:
    wrong = list(wrong)
    names = ", ".join(sorted({outcome.definition for outcome in wrong}))
    shown = "\n".join(map(str, sorted(wrong, key=lambda outcome: len(str(outcome)))[:5]))
    assert not wrong, f"{len(wrong)} instances of {names}, the shortest:\n{shown}"


def test_every_definition_has_a_public_name_unless_it_is_a_whole_message(profile: Profile) -> None:
    assert set(profile.definitions) <= set(profile.module.__all__)
    whole = set(profile.schema["$defs"]) - set(profile.definitions)
    assert {"AgentRequest", "ClientResponse"} <= whole
    assert not [name for name in whole if hasattr(profile.module, name)]


def test_there_are_many_instances_of_every_definition(profile: Profile) -> None:
    all_outcomes = outcomes(profile)
    assert sum(outcome.valid for outcome in all_outcomes) >= EACH_KIND_AT_LEAST
    assert sum(not outcome.valid for outcome in all_outcomes) >= EACH_KIND_AT_LEAST
    assert {outcome.definition for outcome in all_outcomes if outcome.valid} == set(profile.definitions)


def test_every_valid_instance_is_accepted(profile: Profile) -> None:
    assert_none(outcome for outcome in outcomes(profile) if outcome.valid and not outcome.accepted)


def test_an_invalid_instance_is_accepted_only_if_its_invalid_parts_may_fall_back(profile: Profile) -> None:
    assert_none(outcome for outcome in outcomes(profile) if outcome.accepted and not outcome.tolerable)


def test_an_instance_that_is_valid_after_fallbacks_is_accepted(profile: Profile) -> None:
    assert_none(outcome for outcome in outcomes(profile) if outcome.tolerable and not outcome.accepted)


def test_every_accepted_instance_is_dumped_to_equal_json_after_fallbacks(profile: Profile) -> None:
    accepted = [outcome for outcome in outcomes(profile) if outcome.accepted]
    assert_none(outcome for outcome in accepted if not same_json(outcome.dumped, outcome.tolerated))
