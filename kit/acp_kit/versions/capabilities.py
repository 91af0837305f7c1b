"""What both sides advertise: capabilities, login methods. Booleans of version 1 are objects in version 2.

Capabilities that the other version doesn't have are left out, because their methods aren't passed on.
"""

from __future__ import annotations

from acp_kit.common.json_values import items_of, member, members_of
from acp_kit.versions.json_objects import Json, only, renamed, without


def agent_capabilities_to_v2(old: Json) -> Json:
    """Return the capabilities of an agent in version 2, where every agent lists, resumes and closes sessions."""
    session = only(members_of(old, "sessionCapabilities"), "delete", "additionalDirectories", "_meta")
    session["prompt"] = _markers(members_of(old, "promptCapabilities"))
    session["mcp"] = {"stdio": {}} | _markers(without(members_of(old, "mcpCapabilities"), "sse"))
    return only(old, "_meta") | {"session": session}


def _markers(old: Json) -> Json:
    return {name: {} if value is True else value for name, value in old.items() if value is not False}


def client_capabilities_to_v1(new: Json) -> Json:
    """Return the capabilities of a client in version 1.

    Clients of version 2 have no files and no terminals, and need not advertise that they know notices, compactions and
    boolean options.
    """
    return only(new, "elicitation", "_meta") | {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "auth": {"terminal": member(new, "auth", "terminal") is not None},
        "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
    }


def login_methods_to_v2(old: Json, *, in_terminal: bool) -> list[Json]:
    """Return the login methods in a response to `initialize`.

    Those for the terminal are left out if the client can't run them: some agents offer them anyway.
    """
    methods = items_of(old, "authMethods")
    return [_login_method_to_v2(method) for method in methods if in_terminal or method.get("type") != "terminal"]


def _login_method_to_v2(old: Json) -> Json:
    """Return a login method. Its environment variables are a list in version 2."""
    method: Json = {"type": "agent"} | renamed(old, id="methodId")
    if "env" in method:
        method["env"] = [{"name": name, "value": value} for name, value in members_of(method, "env").items()]
    return method
