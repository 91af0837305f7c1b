"""What real editors advertise in `initialize`."""

from __future__ import annotations

from typing import Any, NamedTuple

from acp_bindings import v1


class Editor(NamedTuple):
    """What an editor advertises.

    Attributes:
        version: of the editor.
        source: where this was seen.
        capabilities: its `clientCapabilities`.
    """

    version: str
    source: str
    capabilities: dict[str, Any]


_FILES_AND_TERMINALS = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}

EDITORS = {
    "acpx": Editor("0.19.1", "a recording of its traffic with OpenCode 1.18.33", _FILES_AND_TERMINALS),
    "toad": Editor("0.6.20", "a recording of its traffic with fast-agent 0.10.46", _FILES_AND_TERMINALS),
    "zed": Editor(
        "commit 0038d2e2",
        "its source, crates/agent_servers/src/acp.rs, without beta features",
        {
            **_FILES_AND_TERMINALS,
            "auth": {"terminal": True},
            "session": {"configOptions": {"boolean": {}}},
            "elicitation": {"form": {}, "url": {}},
            "_meta": {"terminal_output": True, "terminal-auth": True},
        },
    ),
}


def as_client(name: str) -> v1.ClientCapabilities:
    """Return what an editor advertises, for `ScriptedClient(capabilities=...)`. `EDITORS` has all, with their versions.

    Raises:
        ValueError: if the editor isn't known.
    """
    if name not in EDITORS:
        raise ValueError(f"{name!r} is not one of {', '.join(EDITORS)}. For others, build a ClientCapabilities.")
    return v1.ClientCapabilities.model_validate(EDITORS[name].capabilities)
