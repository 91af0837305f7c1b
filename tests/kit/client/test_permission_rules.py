"""A rule matches tool calls by their kind and by the paths that they name. What is unknown is not allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import ToolCallContentDiff, ToolCallLocation, ToolCallUpdate
from acp_kit.client.permission_rules import Rule, allow, ask, reject


def _call(kind: Any = None, *paths: str, diffs: tuple[str, ...] = ()) -> ToolCallUpdate:
    return ToolCallUpdate(
        tool_call_id="1",
        kind=kind,
        locations=[ToolCallLocation(path=path) for path in paths],
        content=[ToolCallContentDiff(path=path, new_text="") for path in diffs],
    )


@pytest.mark.parametrize("make", [allow, reject, ask])
def test_a_rule_without_conditions_matches_everything(make: Any) -> None:
    for call in (_call(), _call("read", "/a"), ToolCallUpdate(tool_call_id="1")):
        assert make().matches(call)


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        (allow(kinds={"read", "search"}), {"read", "search"}),
        (reject(kinds=["execute"]), {"execute", None}),
        (ask(kinds=["edit"]), {"edit", None}),
        (reject(kinds=[]), {None}),
        (allow(kinds=[]), set()),
    ],
)
def test_only_allow_needs_to_know_the_kind(rule: Rule, kinds: set[str | None]) -> None:
    assert {kind for kind in ("read", "search", "edit", "execute", None) if rule.matches(_call(kind))} == kinds


# The paths, whether `allow` matches them, and whether `reject` and `ask` do.
PATHS = {
    "none": ((), False, False),
    "inside": (("{root}/a",), True, True),
    "the folder": (("{root}",), True, True),
    "inside twice": (("{root}/a", "{root}/b/../c"), True, True),
    "outside": (("{outside}/a",), False, False),
    "a name that begins the same": (("{root}2/a",), False, False),
    "inside and outside": (("{root}/a", "{outside}/a"), False, True),
    "out by dots": (("{root}/../outside/a",), False, False),
    "out by a link": (("{root}/out/a",), False, False),
    "in by a link": (("{outside}/in/a",), True, True),
    "a relative path": (("a",), False, True),
    "NUL": (("{root}/\0",), False, True),
    "outside and relative": (("{outside}/a", "a"), False, True),
}


@pytest.mark.parametrize(("paths", "allowed", "rejected"), PATHS.values(), ids=PATHS.keys())
@pytest.mark.parametrize("are_diffs", [False, True])
def test_all_paths_must_be_inside_to_be_allowed_and_one_to_be_rejected(
    tmp_path: Path, paths: tuple[str, ...], allowed: bool, rejected: bool, are_diffs: bool
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder, link, to in ((root, "out", outside), (outside, "in", root)):
        folder.mkdir()
        (folder / link).symlink_to(to)
    full = tuple(path.replace("{root}", str(root)).replace("{outside}", str(outside)) for path in paths)
    call = _call("edit", diffs=full) if are_diffs else _call("edit", *full)
    assert allow(under=root).matches(call) == allowed
    assert reject(under=root).matches(call) == ask(under=str(root)).matches(call) == rejected
    assert allow(under=root, kinds={"edit"}).matches(call) == allowed
    assert not allow(under=root, kinds={"read"}).matches(call)


def test_a_diff_outside_is_not_allowed_by_a_location_inside(tmp_path: Path) -> None:
    assert not allow(under=tmp_path).matches(_call("edit", f"{tmp_path}/a", diffs=("/etc/passwd",)))


def test_a_rule_that_can_not_be_meant_is_refused() -> None:
    with pytest.raises(ValueError, match="is not an absolute path"):
        allow(under="relative")


@pytest.mark.parametrize("make", [allow, reject, ask])
def test_a_rule_for_an_unknown_kind_is_refused_with_the_known_ones(make: Any) -> None:
    known = "read, edit, delete, .*"
    for unknown in ("Delete", "delete ", None):
        with pytest.raises(ValueError, match=f"{unknown!r} is not a kind of tool call. The kinds are {known}"):
            make(kinds={"read", unknown})
    assert make(kinds=iter(["read"])).matches(_call("read"))
