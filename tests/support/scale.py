"""Scales tests: a small, reproducible sample in `make test`, everything in `make stress`.

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
    """Return how often to do something: `usual` in `make test`, `stress` in `make stress`."""
    return stress if STRESS else usual


def sample(items: Sequence[T], usual: int) -> list[T]:
    """Return `usual` of the items in `make test`, all of them in `make stress`, in their order."""
    if STRESS or usual >= len(items):
        return list(items)
    chosen = Random(SEED).sample(range(len(items)), usual)
    return [items[index] for index in sorted(chosen)]
