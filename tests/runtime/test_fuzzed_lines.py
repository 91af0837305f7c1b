"""Rules 3 and 4 for lines that nobody has thought of: decoding never raises and agrees with a strict parser."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from acp_runtime.outline import outline
from tests.runtime.fuzzing import MESSAGES, check, generated, mutations


def test_rule_3_every_kind_of_json_in_every_place_is_what_a_strict_parser_says() -> None:
    for each in generated():
        check(each)


@pytest.mark.parametrize("seed", range(8))
def test_rule_3_mutated_messages_are_what_a_strict_parser_says(seed: int) -> None:
    for each in islice(mutations(seed, MESSAGES), 1500):
        check(each)


@pytest.mark.parametrize("seed", range(4))
def test_rule_3_the_outline_of_a_line_is_whole_if_the_line_is_json(seed: int) -> None:
    for each in islice(mutations(seed, MESSAGES), 2500):
        text = each.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except ValueError as error:
            if "digits" not in str(error):
                assert not outline(text).whole, each
            continue
        except RecursionError:
            continue
        found = outline(text)
        assert found.whole, each
        assert found.members.keys() == (value.keys() if isinstance(value, dict) else set()), each
