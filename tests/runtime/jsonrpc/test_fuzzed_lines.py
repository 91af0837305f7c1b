"""Rules 3 and 4 for generated and mutated lines: decoding never raises and agrees with a strict parser."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.runtime.jsonrpc.fuzzing import MESSAGES, check, generated, mutations
from tests.support.scale import count

# The kinds of message that are answered.


@pytest.mark.slow
def test_rule_3_every_kind_of_json_is_decoded_as_by_a_strict_parser() -> None:
    for sent in generated():
        check(sent)


@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("seed", range(count(2, 200)))
def test_rule_3_mutated_messages_are_decoded_as_by_a_strict_parser(seed: int) -> None:
    for sent in islice(mutations(seed, MESSAGES), 1500):
        check(sent)
