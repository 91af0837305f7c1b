"""The kit builds messages with the classes of the profile that it is used with."""

from __future__ import annotations

from typing import Any, cast

from acp_bindings import v1, v1_unstable
from acp_kit.profiles import converted, like


class OwnRequest(v1_unstable.ReadTextFileRequest):
    pass


def test_classes_are_those_of_the_profile_of_a_request() -> None:
    request = v1_unstable.ReadTextFileRequest(session_id="s", path="/a")
    assert like(request, v1.ReadTextFileResponse) is cast("Any", v1_unstable.ReadTextFileResponse)
    assert like(OwnRequest(session_id="s", path="/a"), v1.ReadTextFileResponse) is cast(
        "Any", v1_unstable.ReadTextFileResponse
    )


def test_the_profile_of_a_proxy_is_found() -> None:
    channel: Any = None
    assert like(v1_unstable.RemoteClient(channel), v1.TerminalExitStatus) is cast("Any", v1_unstable.TerminalExitStatus)
    assert like(v1.RemoteClient(channel), v1.TerminalExitStatus) is v1.TerminalExitStatus


def test_anything_else_has_the_classes_of_v1() -> None:
    assert like(object(), v1.ReadTextFileResponse) is v1.ReadTextFileResponse


def test_models_of_v1_are_converted_to_the_profile_of_a_proxy() -> None:
    channel: Any = None
    block = v1.ContentBlockText(text="a", meta={"b": 1})
    other: Any = converted(v1_unstable.RemoteClient(channel), block)
    assert other == v1_unstable.ContentBlockText(text="a", meta={"b": 1})
    assert converted(v1_unstable.RemoteClient(channel), other) is other
    assert converted(v1.RemoteClient(channel), block) is block
