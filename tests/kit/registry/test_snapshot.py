"""The snapshot of the registry has what starts agents, and nothing that the reader refuses."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from acp_kit.registry import Registry
from tools.registry_snapshot import SNAPSHOT, write

PACKAGE = {"package": "one@1.0.0", "args": ["--acp"], "env": {"FAST_AGENT_MODEL": "small"}}
AGENTS: list[Any] = [
    {
        "id": "one",
        "name": "One",
        "version": "1.0.0",
        "description": "Prose.",
        "distribution": {"npx": {**PACKAGE, "note": "Prose."}, "binary": {}},
        "preview": {"version": "2.0.0"},
    },
    {"id": "binary", "name": "Binary", "version": "1.0.0", "distribution": {"binary": {}}},
    {"id": "evil", "name": "Evil", "version": "1.0.0", "distribution": {"npx": {"package": "--evil"}}},
    {"id": "new", "version": "1.0.0", "distribution": {"npx": {**PACKAGE, "env": {"NEW_MODE": "acp"}}}},
    {"version": "1.0.0"},
    "no agent",
]


def test_the_shipped_snapshot_can_be_used() -> None:
    snapshot = json.loads(SNAPSHOT.read_text("utf-8"))
    assert date.fromisoformat(snapshot["date"])
    assert snapshot["source"]
    registry = Registry.parse(SNAPSHOT.read_bytes())
    assert {registry.resolve(agent_id).command for agent_id in registry.ids} <= {"npx", "uvx"}
    assert {"claude-acp", "codex-acp", "gemini"} <= {*registry.ids}
    for agent in snapshot["agents"]:
        assert {*agent} == {"id", "name", "version", "distribution"}


def test_a_snapshot_has_the_facts_of_the_agents_that_npx_or_uvx_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "registry.json", tmp_path / "snapshot.json"
    source.write_text(json.dumps({"version": "1.0.0", "agents": AGENTS, "extensions": []}))
    then = datetime(2026, 8, 22, 12, tzinfo=UTC).timestamp()
    os.utime(source, (then, then))
    write(str(source), target)
    snapshot = json.loads(target.read_text())
    one = {"id": "one", "name": "One", "version": "1.0.0", "distribution": {"npx": PACKAGE}}
    assert (snapshot["date"], snapshot["agents"]) == ("2026-08-22", [one])
    printed = capsys.readouterr().out
    assert "left out: The agent 'binary' is published only as an archive" in printed
    assert "left out: The registry's entry of 'evil' can't be used" in printed
    assert (
        "left out: The registry's entry of 'new' can't be used: it sets the environment variable NEW_MODE." in printed
    )
    assert "1 of 4 agents" in printed
