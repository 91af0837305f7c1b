"""How much a test does: a little in `make test`, the same little every time, and all of it in `make stress`.

Tests that use it are marked with `pytest.mark.stress`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random
from typing import TypeVar

STRESS = os.environ.get("ACP_STRESS") == "1"
SEED = 20261122

T = TypeVar("T")


def count(usual: int, stress: int) -> int:
    """How often to do something."""
    return stress if STRESS else usual


def sample(items: Sequence[T], usual: int) -> list[T]:
    """Some of the items in their order, or all."""
    if STRESS or usual >= len(items):
        return list(items)
    chosen = Random(SEED).sample(range(len(items)), usual)
    return [items[index] for index in sorted(chosen)]
