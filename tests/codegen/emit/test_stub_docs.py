"""The docstrings of the stubs: upstream's description of a method, its arguments, capabilities, default and errors."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from acp_bindings.v1 import Agent, Client
from codegen import ir
from codegen.__main__ import SCHEMA
from codegen.emit.stub_docs import StubDocs
from codegen.pinned.pins import load
from codegen.regen import read_schema
from tests.codegen.emit.stub_definitions import DEFINITIONS
from tests.support.codegen.build import STRING, Schema, acp_schema, model, part_of, ref
from tests.support.codegen.generating import Generate


@pytest.fixture
def package(generate: Generate) -> ModuleType:
    return generate(DEFINITIONS)


DESCRIPTION = "Starts a session.\n\nIt is new."


def described(definitions: Schema) -> Schema:
    """Return a schema whose messages describe `session/new`, as upstream's messages do."""
    schema = acp_schema(definitions)
    (member,) = [
        member
        for member in schema["$defs"]["ClientRequest"]["properties"]["params"]["anyOf"]
        if member["title"] == "NewRequest"
    ]
    member["description"] = DESCRIPTION
    return schema


def test_a_stub_describes_the_method_and_the_model_the_params(generate: Generate) -> None:
    package = generate(described(DEFINITIONS))
    for stub in (package.Agent.session_new, package.RemoteAgent.session_new):
        assert "Starts a session." in stub.__doc__
        assert "Start it." not in stub.__doc__
    assert package.NewRequest.__doc__ == "Start it."
    models = Path(inspect.getfile(importlib.import_module("acp_bindings.v1.models"))).parent
    assert [path.name for path in models.glob("*.py") if "Starts a session." in path.read_text("utf-8")] == []


def test_a_proxy_documents_every_keyword(generate: Generate) -> None:
    folder = {"description": "The folder to work in.\n\nMust be an absolute path.", **STRING}
    meta = {"type": "object", "additionalProperties": True}
    notice = "**UNSTABLE**\n\nThis capability is not part of the spec yet, and may be removed or changed at any point."
    label = {"description": f"{notice}\n\nA label.\n\nUsers see it.", **STRING}
    params = model(["cwd"], cwd=folder, name=ref("Name"), label=label, _meta=meta)
    changed = {"NewRequest": part_of("session/new", "agent", params)}
    package = generate({**DEFINITIONS, **changed, "Name": {"description": "The name that users see", **STRING}})
    doc = inspect.getdoc(package.RemoteAgent.session_new)
    assert doc is not None
    assert doc.partition("Args:\n")[2].splitlines() == [
        "    cwd: The folder to work in.",
        "    name: The name that users see.",
        "    label: A label.",
        "    meta: Data for extensions, `_meta` on the wire.",
        "",
        "Raises:",
        "    RelativePath: `cwd` is a relative path.",
    ]
    assert "Upstream does not describe it here." in inspect.getsource(package.NewRequest)


def test_a_proxy_with_a_union_as_params_documents_the_keywords_of_all_members(package: ModuleType) -> None:
    doc = inspect.getdoc(package.RemoteAgent.session_set_config_option)
    assert doc is not None
    arguments = [line.split(":")[0].strip() for line in doc.partition("Args:\n")[2].splitlines()]
    assert set(arguments) == {"session_id", "type", "value"}
    assert "type: Selects the variant: `boolean` or another string." in doc


def test_a_handler_names_its_own_capability_and_a_proxy_its_peers(package: ModuleType) -> None:
    capability = "clientCapabilities.fs.readTextFile"
    handler, proxy = (
        inspect.getdoc(package.Client.fs_read_text_file),
        inspect.getdoc(package.RemoteClient.fs_read_text_file),
    )
    assert handler is not None
    assert proxy is not None
    advertise = f"Advertise `{capability}` in your `initialize` request; without it, agents don't call this method."
    assert advertise in " ".join(handler.split())
    assert f"CapabilityError: The client did not advertise `{capability}`." in " ".join(proxy.split())
    assert "Raises:" not in handler


@cache
def read_pinned(profile: str) -> ir.Schema:
    (pinned,) = (pinned for pinned in load(SCHEMA, pinned=True) if pinned.profile.name == profile)
    return read_schema(pinned.schema, pinned.profile.own_tables)


def handler(role: str, wire: str, profile: str = "v1") -> str:
    """Return the docstring of a handler on one line, as it is generated from the pinned schema."""
    return one_line(StubDocs(read_pinned(profile)).write_handler_doc(find_method(profile, role, wire), role))


def proxy(role: str, wire: str, profile: str = "v1") -> str:
    """Return the docstring of a proxy's method on one line, as it is generated from the pinned schema."""
    return one_line(StubDocs(read_pinned(profile)).write_caller_doc(find_method(profile, role, wire), role))


def find_method(profile: str, role: str, wire: str) -> ir.Method:
    return next(method for method in read_pinned(profile).methods if method.wire == wire and role in method.handled_by)


def one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def test_a_handler_says_when_it_is_called() -> None:
    assert "Every agent must implement this method." in handler("agent", "session/new")
    needs = "Advertise `agentCapabilities.loadSession` in your `initialize` response; without it, clients don't call"
    assert f"{needs} this method." in handler("agent", "session/load")
    offered = "Needs no capability; clients send this notification if"
    assert f"{offered} " in handler("agent", "session/cancel")
    assert "Advertise" not in handler("agent", "session/cancel")


def test_a_proxy_says_when_to_call_it_and_what_it_does_besides() -> None:
    assert "Needs no capability; send it only if " in proxy("agent", "session/cancel")
    answered = 'The session\'s pending `session/request_permission` requests are answered with `{"outcome": '
    assert answered in proxy("agent", "session/cancel")
    assert "The error -32002 counts as success" in proxy("agent", "session/close")


def test_a_handler_documents_its_default() -> None:
    cancels = "it cancels the session's `session/prompt`, which is then answered with"
    default = f'You need not override the default: {cancels} `{{"stopReason": "cancelled"}}`.'
    assert default in handler("agent", "session/cancel")
    default = "The default only cancels the session's `session/prompt` requests in flight, which are then answered with"
    assert f"{default} the error -32800." in handler("agent", "session/cancel", "v2_draft")
    default = "The default does nothing, because the connection has cancelled the request already."
    assert default in handler("agent", "$/cancel_request")
    for role, wire in (("agent", "session/load"), ("agent", "session/new"), ("client", "elicitation/complete")):
        assert "default" not in handler(role, wire)
    for role_class in (Agent, Client):
        assert "raises `MethodNotFound`, so that the request is answered with the error -32601." in one_line(
            role_class.__doc__
        )


def test_a_keyword_that_selects_a_variant_lists_each_choice_once() -> None:
    modes = "mode: Selects the variant: `form`, `url` or another string."
    assert modes in proxy("client", "elicitation/create")
    assert "type: Selects the variant: `boolean` or left out." in proxy("agent", "session/set_config_option")


def test_only_a_proxy_that_can_send_the_cancellation_says_that_it_is_sent() -> None:
    assert "is cancelled, `session/cancel` is sent." in proxy("agent", "session/prompt")
    assert "`session/cancel` is sent." not in proxy("client", "session/request_permission")
    assert "`session/cancel` is sent." not in proxy("agent", "session/prompt", "v2_draft")


def test_a_proxy_documents_the_errors_that_its_facts_cause() -> None:
    errors = {
        ("agent", "initialize"): "ProtocolVersionMismatch: The agent answered with another protocol version.",
        ("agent", "session/new"): "`cwd`, `additional_directories` or a path in `mcp_servers` is a relative path.",
        ("client", "terminal/kill"): "Not raised for a `terminal_id` that the client created.",
        ("client", "session/update"): "`clientCapabilities.session.notices` for `update.notice`",
        ("client", "elicitation/create"): '`clientCapabilities.elicitation.url` for `mode="url"`',
    }
    for (role, wire), text in errors.items():
        assert text in proxy(role, wire)


def test_a_long_sentence_has_several_lines() -> None:
    doc = StubDocs(read_pinned("v1")).write_handler_doc(find_method("v1", "agent", "session/cancel"), "agent")
    (default,) = (part for part in doc.split("\n\n") if part.startswith("You need not"))
    assert max(map(len, default.splitlines())) <= 112
