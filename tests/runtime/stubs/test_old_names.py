"""Old names of a module are aliases, which warn; other names are looked up as before."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from acp_runtime.stubs.lazy import old_names


def module_with_old_names(monkeypatch: pytest.MonkeyPatch, *load: Any) -> Any:
    """Return a module in which `Old` is an old name of `New`."""
    module: Any = ModuleType("acme")
    module.New = object()
    module.__path__ = []  # `from acme import` first looks for submodules of a package
    module.__getattr__ = old_names("acme", {"Old": ("New", "2.0")}, *load)
    monkeypatch.setitem(sys.modules, "acme", module)
    return module


def test_an_old_name_gives_the_new_one_and_warns_once_on_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_with_old_names(monkeypatch)
    with pytest.warns(DeprecationWarning, match=r"^acme\.Old is New now\. .* removed in acp-bindings 2\.0") as caught:
        assert module.Old is module.New
    assert [warning.filename for warning in caught] == [__file__]
    names: dict[str, Any] = {}
    with pytest.warns(DeprecationWarning, match="Old is New") as caught:
        exec("from acme import Old", names)
    assert names["Old"] is module.New
    assert [warning.filename for warning in caught] == ["<string>"]


def test_other_names_are_looked_up_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module_with_old_names(monkeypatch, str.upper).late == "LATE"
    with pytest.raises(AttributeError, match="module 'acme' has no attribute 'late'"):
        _ = module_with_old_names(monkeypatch).late
