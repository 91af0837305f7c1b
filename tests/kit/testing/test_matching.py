"""What is the same in the messages of two clients."""

from __future__ import annotations

from typing import Any

import pytest

from acp_kit.testing.matching import Renames, described, values_of


def opening(cwd: str) -> Any:
    return {"method": "session/new", "params": {"cwd": cwd}}


@pytest.mark.parametrize(
    ("recorded", "for_client"),
    [
        ("/work", "/tmp/x y"),
        ("see\n/work/a.txt, /work", "see\n/tmp/x y/a.txt, /tmp/x y"),
        ("file:///work/a", "file:///tmp/x y/a"),
        ("/workspace /work.txt /home/work a/work", "/workspace /work.txt /home/work a/work"),
        ("/work/sub/b", "/other/b"),
        ("C:\\\\work", "D:\\\\1\\\\g<0>"),
    ],
)
def test_names_are_replaced_where_they_stand_alone_and_back(recorded: str, for_client: str) -> None:
    renames = Renames()
    for theirs, ours in (("/work", "/tmp/x y"), ("/work/sub", "/other"), ("C:\\\\work", "D:\\\\1\\\\g<0>")):
        renames.learn(opening(theirs), opening(ours))
    assert renames.for_client({"a": [recorded, 1, None]}) == {"a": [for_client, 1, None]}
    assert renames.as_recorded([for_client]) == [recorded]


def test_two_sessions_that_change_places() -> None:
    renames = Renames()
    renames.learn(opening("/a"), opening("/b"))
    renames.learn(opening("/b"), opening("/a"))
    assert renames.for_client("/a /b") == "/b /a"


def test_the_root_and_what_is_the_same_are_left_alone() -> None:
    renames = Renames()
    renames.learn(opening("/"), opening("/tmp"))
    renames.learn(opening("/a"), opening("/a"))
    assert renames.for_client("/ /a/b") == "/ /a/b"


def test_what_differs_between_clients_does_not_count() -> None:
    one = {"method": "m", "params": {"a": 1, "cwd": "/a", "mcpServers": [{"name": "x"}], "_meta": {"b": 1}, "c": None}}
    two = {"method": "m", "params": {"a": 1, "cwd": "/b", "clientInfo": {"name": "y"}, "d": [], "e": {"_meta": 2}}}
    assert values_of(one) == values_of(two) == {"method": "m", "a": 1}
    assert values_of({"method": "m"}) == {"method": "m"}


def test_names_that_begin_like_those_of_a_client_count() -> None:
    assert values_of({"method": "m", "params": {"cwds": 1}}) == {"method": "m", "cwds": 1}


def test_the_first_differences_are_described() -> None:
    recorded, sent = {"a": 1, "b": "x" * 99, "c": 3, "d": 4}, {"a": 2, "c": 4, "d": 5}
    assert described(recorded, sent) == (
        f'a is 2, recorded is 1; b is null, recorded is "{"x" * 56}...; c is 4, recorded is 3'
    )
