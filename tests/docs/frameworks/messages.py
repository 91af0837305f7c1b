"""The types of the package `anthropic` accept what `to_anthropic` returns. Run by test_frameworks.py."""

from __future__ import annotations

from typing import Any

from anthropic.types import MessageParam
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import TypeAdapter

from acp_kit.history import to_anthropic
from tests.support.kit.model_rules import validate
from tests.support.kit.session_updates import parse, updates_of

PARAMS: TypeAdapter[Any] = TypeAdapter(list[MessageParam])


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(updates_of("v1"), max_size=12))
def test_the_messages_of_any_history_have_the_types_of_the_package(updates: list[Any]) -> None:
    read = [update for update in map(parse, updates) if update.session_update != "tool_call_update"]
    validate(PARAMS, to_anthropic(read))
