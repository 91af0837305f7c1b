"""The lines that rows are measured with are valid messages of agents."""

from __future__ import annotations

from typing import get_args

from pydantic import TypeAdapter

from acp_bindings.v1 import SessionNotification, SessionUpdate
from benchmarks import lines, traffic


def updates_of(data: bytes) -> list[SessionNotification]:
    messages: TypeAdapter[dict[str, object]] = TypeAdapter(dict[str, object])
    read = [messages.validate_json(line) for line in data.splitlines()]
    assert {each["method"] for each in read} == {"session/update"}
    return [SessionNotification.model_validate(each["params"]) for each in read]


def test_chunks_are_lines_of_an_ordinary_size() -> None:
    sizes = [len(line) for line in lines.chunks(200).splitlines()]
    assert min(sizes) >= 190
    assert max(sizes) <= 260


def test_mixed_traffic_has_every_kind_of_update_of_version_1() -> None:
    union, *_ = get_args(SessionUpdate)
    kinds = {type(each.update) for each in updates_of(traffic.mixed(20))}
    assert kinds == set(get_args(union))


def test_lines_are_the_same_in_every_run() -> None:
    assert lines.chunks(50) == lines.chunks(50)
    assert traffic.mixed(50) == traffic.mixed(50)
    assert len(traffic.mixed(50).splitlines()) == 50


def test_a_large_line_is_one_update_with_the_given_number_of_characters() -> None:
    [notification] = updates_of(lines.of_size(10_000))
    assert len(notification.update.content.text) == 10_000
