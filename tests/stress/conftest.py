"""Coroutines run as those of the runtime's tests do: with a deadline, leaving no task, thread or descriptor behind."""

from tests.runtime.conftest import link, pytest_pyfunc_call  # noqa: F401
