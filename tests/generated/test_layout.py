"""`generated/` contains the files that `make regen` writes, and nothing else."""

from __future__ import annotations

from tests.support.models.modules import GENERATED, PROFILES

MODULES = {"__init__.py", "agent.py", "client.py", "connecting.py", "methods.py", "models/__init__.py", "updates.py"}
TOPICS = {
    f"models/{name}.py"
    for name in (
        "common",
        "connection",
        "content",
        "elicitation",
        "mcp",
        "other",
        "sessions",
        "settings",
        "terminals",
        "tool_calls",
        "updates",
    )
}
# Version 2 has no methods for files.
OWN = {"v1": {"models/files.py"}, "v1_unstable": {"models/files.py"}}
EXPECTED = {"acp_bindings/__init__.py", "acp_bindings/py.typed", "acp_bindings/versions.py"} | {
    f"acp_bindings/{profile}/{module}" for profile in PROFILES for module in MODULES | TOPICS | OWN.get(profile, set())
}
FILES = sorted(path for path in GENERATED.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def test_every_pinned_schema_has_a_package_and_there_is_nothing_else() -> None:
    assert {path.relative_to(GENERATED).as_posix() for path in FILES} == EXPECTED


def test_every_folder_contains_a_generated_file() -> None:
    folders = {path for path in GENERATED.rglob("*") if path.is_dir() and path.name != "__pycache__"}
    assert folders == {path.parent for path in FILES}
