"""`help` of a profile is too long to read, so its docstring says which shorter parts to read."""

from __future__ import annotations

import inspect
import pydoc
import re
from importlib import import_module

from tests.support.models.profiles import Profile

SHORT = 50_000


def test_help_is_short_for_the_names_in_a_profiles_docstring(profile: Profile) -> None:
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
