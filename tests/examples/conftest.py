"""Tests that are coroutines run as those of the runtime do."""

from tests.runtime.conftest import pytest_pyfunc_call  # noqa: F401
