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
        emit_package([Profile(profile, file="", sha256="", source="", version="") for profile in profiles])[
            "versions.py"
        ]
    )
    for name in ("spawn_agent", "connect"):
        functions = [
            statement for statement in module.body if isinstance(statement, ast.FunctionDef) and statement.name == name
        ]
        assert all(function.decorator_list for function in functions[:-1])
        # In an overload, each profile is required.
        required = [
            [
                arg.arg
                for arg, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
                if not default
            ]
            for function in functions[:-1]
        ]
        assert required == overloads
