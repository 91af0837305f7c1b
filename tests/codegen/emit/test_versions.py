"""The functions for several versions have the overloads that type checkers accept, for any number of profiles."""

from __future__ import annotations

import ast

import pytest

from codegen.emit.modules import emit_package
from codegen.pinned.profiles import Profile


@pytest.mark.parametrize(
    ("profiles", "overloads"),
    [
        (["v1"], []),
        (["v1", "v1_unstable"], [["v1"], ["v1_unstable"]]),
        (["v1", "v2_draft"], [["v2_draft"], ["v1"], ["v1", "v2_draft"]]),
    ],
)
def test_each_combination_of_versions_is_an_overload(profiles: list[str], overloads: list[list[str]]) -> None:
    module = ast.parse(
        emit_package([Profile(each, file="", sha256="", source="", version="") for each in profiles])["versions.py"]
    )
    for name in ("spawn_agent", "connect"):
        functions = [each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == name]
        assert all(each.decorator_list for each in functions[:-1])
        # In an overload, each profile is required.
        required = [
            [arg.arg for arg, default in zip(each.args.kwonlyargs, each.args.kw_defaults, strict=True) if not default]
            for each in functions[:-1]
        ]
        assert required == overloads
