"""An instance of a definition parses, or doesn't, as upstream's schema says, and dumps unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tests.support.models.oracle import same_json
from tests.support.models.outcomes import EACH_KIND_AT_LEAST, Outcome, outcomes
from tests.support.models.profiles import Profile


def none_of(wrong: Iterable[Outcome]) -> None:
    wrong = list(wrong)
    names = ", ".join(sorted({each.definition for each in wrong}))
    shown = "\n".join(map(str, sorted(wrong, key=lambda each: len(str(each)))[:5]))
    assert not wrong, f"{len(wrong)} instances of {names}, the shortest:\n{shown}"


def test_every_definition_has_a_name_in_the_package_and_all_but_whole_messages_a_public_one(profile: Profile) -> None:
    assert [name for name in profile.definitions if not hasattr(profile.module, name)] == []
    envelopes = {name for name, each in profile.definitions.items() if "x-docs-ignore" in each and "x-side" not in each}
    assert set(profile.definitions) - set(profile.module.__all__) == envelopes
    assert {"AgentRequest", "ClientResponse"} <= envelopes


def test_the_instances_are_many_and_spread_over_all_definitions(profile: Profile) -> None:
    found = outcomes(profile)
    assert sum(each.valid for each in found) >= EACH_KIND_AT_LEAST
    assert sum(not each.valid for each in found) >= EACH_KIND_AT_LEAST
    assert {each.definition for each in found if each.valid} == set(profile.definitions)


def test_no_valid_instance_is_rejected(profile: Profile) -> None:
    none_of(each for each in outcomes(profile) if each.valid and not each.accepted)


def test_an_invalid_instance_is_accepted_only_where_a_leniency_keyword_explains_it(profile: Profile) -> None:
    none_of(each for each in outcomes(profile) if each.accepted and not each.salvageable)


def test_whatever_leniency_makes_valid_is_accepted(profile: Profile) -> None:
    none_of(each for each in outcomes(profile) if each.salvageable and not each.accepted)


def test_every_accepted_instance_dumps_to_equal_json_with_salvaged_parts_absent_or_empty(profile: Profile) -> None:
    accepted = [each for each in outcomes(profile) if each.accepted]
    none_of(each for each in accepted if not same_json(each.dumped, each.salvaged))


def test_leniency_never_changes_a_valid_instance_of_a_definition_without_unions(profile: Profile) -> None:
    """The oracle's own check: valid is what salvaging leaves alone, but for a first match that is not the only one."""
    plain = [
        each
        for each in outcomes(profile)
        if each.valid and "Of" not in json.dumps(profile.definitions[each.definition])
    ]
    none_of(each for each in plain if not same_json(each.instance, each.salvaged))
