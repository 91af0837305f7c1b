"""A copy of codegen that the tests of this folder share, because its process takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.codegen.refusal_base import BASE
from tests.support.codegen_copy import Copy, codegen_copy


@pytest.fixture(scope="session")
def shared_copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """The copy. A test may leave its package out of date, and nothing else."""
    with codegen_copy(tmp_path_factory.mktemp("shared") / "copy", BASE) as found:
        yield found
