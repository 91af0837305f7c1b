"""`help` of a profile is too long to read, so what its docstring says to look at instead is short."""

from __future__ import annotations

import inspect
import pydoc
import re
from importlib import import_module

from tests.support.models.profiles import Profile

SHORT = 50_000


def test_what_the_docstring_of_a_profile_names_is_short(profile: Profile) -> None:
    module = import_module(f"acp_bindings.{profile.package}")
    text = str(module.__doc__)
    named = re.findall(r"help\((\w+)\)", text)
    assert named == ["Agent", "Client", "RemoteAgent", "RemoteClient", "spawn_agent", "serve_stdio"]
    for name in named:
        assert len(pydoc.plain(pydoc.render_doc(getattr(module, name)))) < SHORT
    [model] = re.findall(r"getsource\((\w+)\)", text)
    source = inspect.getsource(getattr(module, model))
    assert "protocol_version: ProtocolVersion\n" in source
    assert len(source) < SHORT
