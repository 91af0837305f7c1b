"""The docstrings of the stubs: upstream's words about a method, its keywords, what it needs, what its default does."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.codegen.build import STRING, Schema, acp_schema, model, part_of, ref
from tests.support.codegen.generating import Generate
from tests.support.codegen.stub_definitions import DEFINITIONS


@pytest.fixture
def package(generate: Generate) -> ModuleType:
    return generate(DEFINITIONS)


SAID = "Starts a session.\n\nIt is new."


def with_words(definitions: Schema) -> Schema:
    """A schema whose message describes `session/new`, as upstream's do."""
    schema = acp_schema(definitions)
    (member,) = [
        each
        for each in schema["$defs"]["ClientRequest"]["properties"]["params"]["anyOf"]
        if each["title"] == "NewRequest"
    ]
    member["description"] = SAID
    return schema


def test_the_words_about_a_method_stand_on_its_stubs_and_those_about_its_params_on_the_params(
    generate: Generate,
) -> None:
    package = generate(with_words(DEFINITIONS))
    for stub in (package.Agent.session_new, package.RemoteAgent.session_new):
        assert "Starts a session." in stub.__doc__
        assert "Start it." not in stub.__doc__
    assert package.NewRequest.__doc__ == "Start it."
    models = Path(inspect.getfile(importlib.import_module("acp_bindings.v1.models"))).read_text("utf-8")
    assert "Starts a session." not in models


def test_a_proxy_documents_every_keyword(generate: Generate) -> None:
    words = {"description": "The folder to work in.\n\nIt has to be absolute.", **STRING}
    meta = {"type": "object", "additionalProperties": True}
    changed = {"NewRequest": part_of("session/new", "agent", model(["cwd"], cwd=words, name=ref("Name"), _meta=meta))}
    package = generate({**DEFINITIONS, **changed, "Name": {"description": "What users see.", **STRING}})
    doc = inspect.getdoc(package.RemoteAgent.session_new)
    assert doc is not None
    assert doc.partition("Args:\n")[2].splitlines() == [
        "    cwd: The folder to work in.",
        "    name: What users see.",
        "    meta: Data for extensions, `_meta` on the wire.",
    ]


def test_a_proxy_whose_params_are_a_union_documents_the_keywords_of_all_members(package: ModuleType) -> None:
    doc = inspect.getdoc(package.RemoteAgent.session_set_config_option)
    assert doc is not None
    arguments = [line.split(":")[0].strip() for line in doc.partition("Args:\n")[2].splitlines()]
    assert set(arguments) == {"session_id", "type", "value"}
    assert "type: Which kind it is: `boolean`, or another." in doc


def test_a_handler_says_what_it_has_to_advertise_and_a_proxy_what_its_peer_has_to(package: ModuleType) -> None:
    capability = "clientCapabilities.fs.readTextFile"
    handler, proxy = (
        inspect.getdoc(package.Client.fs_read_text_file),
        inspect.getdoc(package.RemoteClient.fs_read_text_file),
    )
    assert handler is not None
    assert proxy is not None
    advertise = f"Advertise `{capability}` in your `initialize` request: without it agents don't call it."
    assert advertise in " ".join(handler.split())
    assert f"CapabilityError: the client did not advertise `{capability}`." in " ".join(proxy.split())
    assert "Raises:" not in handler


def test_a_handler_says_what_its_default_does() -> None:
    from acp_bindings.v1 import Agent, Client

    cancels = "it cancels the session's `session/prompt`, which is then answered with"
    defaults = {
        Agent.session_load: "The default answers that there is no such method (-32601).",
        Agent.session_cancel: f'The default works without an override: {cancels} `{{"stopReason": "cancelled"}}`.',
        Client.elicitation_complete: "The default ignores it.",
    }
    for method, words in defaults.items():
        assert words in " ".join((method.__doc__ or "").split())
    assert "The default" not in (Agent.session_new.__doc__ or "")


def test_whole_messages_are_no_public_names_and_come_last(package: ModuleType) -> None:
    models = importlib.import_module("acp_bindings.v1.models")
    names = [node.name for node in ast.parse(inspect.getsource(models)).body if isinstance(node, ast.ClassDef)]
    envelopes = {"AgentRequest", "ClientRequest", "AgentNotification", "ClientNotification"}
    first = min(map(names.index, envelopes))
    assert set(names[:first]) > {"NewRequest", "ReadResponse", "SuccessorRequest"}
    assert not set(names[first:]) & set(package.__all__)
    assert package.AgentRequest is models.AgentRequest
