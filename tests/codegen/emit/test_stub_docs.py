"""The docstrings of the stubs: upstream's description of a method, its arguments, capabilities, default and errors."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

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


def test_a_handler_documents_its_default() -> None:
    from acp_bindings import v2_draft
    from acp_bindings.v1 import Agent, Client

    cancels = "it cancels the session's `session/prompt`, which is then answered with"
    default = f'You need not override the default: {cancels} `{{"stopReason": "cancelled"}}`.'
    assert default in one_line(Agent.session_cancel)
    default = "The default only cancels the session's `session/prompt` requests in flight, which are then answered with"
    assert f"{default} the error -32800." in one_line(v2_draft.Agent.session_cancel)
    for role in (Agent, Client):
        assert "raises `MethodNotFound`, so that the request is answered with the error -32601." in one_line(role)
    for method in (Agent.session_load, Client.elicitation_complete):
        assert "default" not in one_line(method)
    assert "The default" not in (Agent.session_new.__doc__ or "")


def test_a_keyword_that_selects_a_variant_lists_each_choice_once() -> None:
    from acp_bindings.v1 import RemoteAgent, RemoteClient

    assert "mode: Selects the variant: `form`, `url` or another string." in one_line(RemoteClient.elicitation_create)
    assert "type: Selects the variant: `boolean` or left out." in one_line(RemoteAgent.session_set_config_option)


def test_only_a_proxy_that_can_send_the_cancellation_says_that_it_is_sent() -> None:
    from acp_bindings import v2_draft
    from acp_bindings.v1 import RemoteAgent, RemoteClient

    assert "is cancelled, `session/cancel` is sent." in one_line(RemoteAgent.session_prompt)
    for method in (RemoteClient.session_request_permission, v2_draft.RemoteAgent.session_prompt):
        assert "`session/cancel` is sent." not in one_line(method)


def test_a_proxy_documents_the_errors_that_its_facts_cause() -> None:
    from acp_bindings.v1 import RemoteAgent, RemoteClient

    errors = {
        RemoteAgent.initialize: "ProtocolVersionMismatch: The agent answered with another protocol version.",
        RemoteAgent.session_new: "`cwd`, `additional_directories` or a path in `mcp_servers` is a relative path.",
        RemoteClient.terminal_kill: "Not raised for a `terminal_id` that the client created.",
        RemoteClient.session_update: "`clientCapabilities.session.notices` for `update.notice`",
        RemoteClient.elicitation_create: '`clientCapabilities.elicitation.url` for `mode="url"`',
    }
    for method, text in errors.items():
        assert text in one_line(method)


def one_line(method: object) -> str:
    return " ".join((method.__doc__ or "").split())
