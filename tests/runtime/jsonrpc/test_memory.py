"""The memory of a message, told from its bytes."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from acp_runtime.jsonrpc import memory_of, parse

_MIB = 1024 * 1024


@pytest.mark.parametrize(
    "element", [b"[]", b"[[[[[[]]]]]]", b"{}", b'{"a":1}', b"1", b"0.25", b'"ab"', b'"\\ud83d\\ude00"'], ids=repr
)
def test_a_list_takes_about_as_much_as_is_told(element: bytes) -> None:
    line = b"[%b]" % b",".join([element] * 50_000)
    tracemalloc.start()
    kept = parse(line)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(kept) == 50_000
    assert taken / 2 < memory_of(line)


@pytest.mark.parametrize("ensure_ascii", [False, True])
def test_one_wide_character_widens_a_text(ensure_ascii: bool) -> None:
    line = json.dumps("x" * _MIB + "\U0001f600", ensure_ascii=ensure_ascii).encode()
    assert 4 * _MIB < memory_of(line) < 5 * _MIB


def test_code_in_a_text_is_a_text() -> None:
    code = json.dumps({"text": json.dumps([{"a": [1, "\\"]}] * 100_000)}).encode()
    assert memory_of(code) < 2 * len(code)


def test_values_between_the_places_of_an_even_sample_are_counted() -> None:
    part = b'"%b",%b' % (b"x" * _MIB, b",".join([b"[]"] * 300_000))
    line = b"[%b]" % b",".join([part] * 16)
    assert memory_of(line) > 2 * len(line)
