"""The memory of a message, estimated from its bytes."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from acp_runtime.jsonrpc import memory_of, parse
from acp_runtime.jsonrpc.framing import MODEL_BYTES

_MIB = 1024 * 1024


@pytest.mark.parametrize(
    "element", [b"[]", b"[[[[[[]]]]]]", b"{}", b'{"a":1}', b"1", b"0.25", b'"ab"', b'"\\ud83d\\ude00"'], ids=repr
)
@pytest.mark.parametrize("count", [100, 50_000])
def test_a_list_takes_about_the_estimated_memory(element: bytes, count: int) -> None:
    line = b"[%b]" % b",".join([element] * count)
    tracemalloc.start()
    kept = parse(line)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(kept) == count
    assert taken / 2 < memory_of(line) < 20 * taken + MODEL_BYTES


@pytest.mark.parametrize("ensure_ascii", [False, True])
def test_one_wide_character_widens_a_text(ensure_ascii: bool) -> None:
    line = json.dumps("x" * _MIB + "\U0001f600", ensure_ascii=ensure_ascii).encode()
    assert 4 * _MIB < memory_of(line) < 5 * _MIB
    assert _MIB < memory_of(json.dumps("x" * _MIB).encode()) < 2 * _MIB


def test_code_in_a_text_is_a_text() -> None:
    code = json.dumps({"text": json.dumps([{"a": [1, "\\"]}] * 100_000)}).encode()
    assert memory_of(code) < 2 * len(code)


def test_values_between_the_places_of_an_even_sample_are_counted() -> None:
    part = b'"%b",%b' % (b"x" * _MIB, b",".join([b"[]"] * 300_000))
    line = b"[%b]" % b",".join([part] * 16)
    assert memory_of(line) > 2 * len(line)


@pytest.mark.parametrize("place", range(4))
def test_values_are_counted_wherever_they_are(place: int) -> None:
    parts = [b'"%b"' % (b"x" * _MIB)] * 4
    parts[place] = b",".join([b"[]"] * 350_000)
    line = b"[%b]" % b",".join(parts)
    assert memory_of(line) > 10 * len(line)


@pytest.mark.parametrize("size", [_MIB // 2, 3 * _MIB // 2, 5 * _MIB // 2])
def test_values_behind_a_text_that_contains_code_are_counted(size: int) -> None:
    line = b'["%b",%b]' % (b"[]," * (size // 3), b",".join([b"[]"] * 350_000))
    assert 10 * len(line) < memory_of(line) + 10 * size < 100 * len(line)
