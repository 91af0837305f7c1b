"""Of a command's output, the end is kept, cut between characters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from acp_kit.local.output_tail import OutputTail
from tests.support.scale import count


@pytest.mark.parametrize(
    ("limit", "text", "truncated"),
    [
        (100, "aé€😀", False),
        (10, "aé€😀", False),
        (9, "é€😀", True),
        (8, "€😀", True),
        (7, "€😀", True),
        (6, "😀", True),
        (4, "😀", True),
        (3, "", True),
        (0, "", True),
    ],
)
def test_characters_are_dropped_whole_and_from_the_start(limit: int, text: str, truncated: bool) -> None:
    tail = OutputTail(limit)
    for byte in "aé€😀".encode():
        tail.add(bytes([byte]))
    assert (tail.text, tail.truncated) == (text, truncated)


@pytest.mark.stress
@settings(max_examples=count(50, 5000), deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=8), st.text(max_size=4).map(str.encode)), max_size=12), st.integers(0, 40))
def test_any_output_is_cut_to_its_longest_end_that_fits(chunks: list[bytes], limit: int) -> None:
    tail, whole = OutputTail(limit), b"".join(chunks).decode("utf-8", "replace")
    for chunk in chunks:
        tail.add(chunk)
    tail.end()
    expected = next(whole[start:] for start in range(len(whole) + 1) if len(whole[start:].encode()) <= limit)
    assert tail.text == expected
    assert tail.truncated == (expected != whole)
