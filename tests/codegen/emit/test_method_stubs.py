"""The stubs of methods: their roles, the defaults of handlers, and the messages that proxies send."""

from __future__ import annotations

import asyncio
import inspect
import json
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from acp_runtime import ExtNotification, Model, handles
from codegen.data.facts_file import METHODS_TOML
from codegen.names import pascal
from tests.codegen.emit.stub_definitions import DEFINITIONS
from tests.support.codegen.build import STRING, Schema, model, request, tagged, wraps
from tests.support.codegen.generating import Generate

pytestmark = pytest.mark.xdist_group("method_stubs")

NUMBER: Schema = {"type": "integer", "format": "int32"}


class Recorder:
    """A channel that records the messages sent through it."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []

    async def request(self, method: Any, params: Any) -> Any:
        self.sent.append((method.wire, json.loads(params.model_dump_json())))
        return f"the result of {method.wire}"

    async def notify(self, method: Any, params: Any) -> None:
        self.sent.append((method.wire, json.loads(params.model_dump_json())))


@pytest.fixture(scope="module")
def package(generate_once: Generate) -> ModuleType:
    return generate_once(DEFINITIONS)


def test_every_method_is_on_the_role_that_handles_it(package: ModuleType) -> None:
    agent = {"initialize", "session_new", "session_set_config_option", "session_cancel"}
    client = {"session_update", "fs_read_text_file"}
    both = {"mcp_message", "mcp_message_notification", "cancel_request", "proxy_successor"}
    assert _own(package.Agent) == _own(package.RemoteAgent) - {"request", "notify"} == agent | both
    assert _own(package.Client) == _own(package.RemoteClient) - {"request", "notify"} == client | both


def test_the_tables_hold_requests_and_notifications_with_their_capabilities(package: ModuleType) -> None:
    from acp_bindings.v1 import methods  # the generated one, which the fixture imports

    assert {"initialize", "session/new", "mcp/message"} < methods.AGENT_REQUESTS.keys()
    assert {"session/cancel", "mcp/message", "$/cancel_request"} == methods.AGENT_NOTIFICATIONS.keys()
    assert {"fs/read_text_file", "mcp/message", "proxy/successor"} == methods.CLIENT_REQUESTS.keys()
    assert methods.FS_READ_TEXT_FILE.capability == "clientCapabilities.fs.readTextFile"
    assert methods.FS_READ_TEXT_FILE.result == "ReadResponse"
    assert (methods.SESSION_NEW.baseline, methods.SESSION_CANCEL.baseline) == (True, False)
    assert methods.SESSION_NEW.profile.models is __import__("sys").modules["acp_bindings.v1.models"]


def test_baseline_methods_are_abstract_and_the_others_are_not(package: ModuleType) -> None:
    assert package.Agent.__abstractmethods__ == {"initialize", "session_new"}
    assert package.Client.__abstractmethods__ == {"session_update"}


def test_a_proxy_sends_its_keywords_as_params(package: ModuleType) -> None:
    channel = Recorder()
    agent = package.RemoteAgent(channel)
    assert asyncio.run(agent.session_new(cwd="/a")) == "the result of session/new"
    asyncio.run(agent.session_cancel(session_id="s"))
    asyncio.run(agent.mcp_message_notification(method="m"))
    assert channel.sent == [
        ("session/new", {"cwd": "/a"}),
        ("session/cancel", {"sessionId": "s"}),
        ("mcp/message", {"method": "m"}),
    ]


def test_a_class_has_its_overload_before_its_base(generate: Generate) -> None:
    payloads = (wraps("InitializeRequest"), wraps("InitializeResponse"))
    proxy = request("proxy/initialize", "InitializeProxy", *payloads, "proxy")
    agent = generate({**DEFINITIONS, **proxy}).RemoteAgent
    annotated = [
        inspect.signature(overload).parameters["request"].annotation for overload in typing.get_overloads(agent.request)
    ]
    assert annotated[:3] == ["InitializeProxyRequest", "InitializeRequest", "NewRequest"]


def test_notify_has_an_overload_for_each_notification_and_for_extensions(generate: Generate) -> None:
    annotated = [
        inspect.signature(overload).parameters["notification"].annotation
        for overload in typing.get_overloads(generate(DEFINITIONS).RemoteAgent.notify)
    ]
    assert annotated[:-1] == ["CancelNotification", "MessageNotification", "CancelRequestNotification"]
    assert annotated[-1].startswith("_extensions.ExtNotification")


def test_a_request_that_is_a_union_has_an_overload_for_each_member(generate: Generate) -> None:
    package = generate(DEFINITIONS)  # other tests clear the overloads of the shared one
    overloads = typing.get_overloads(package.RemoteAgent.session_set_config_option)
    assert [{*inspect.signature(overload).parameters} for overload in overloads] == [
        {"self", "session_id", "type", "value"},
        {"self", "session_id", "type"},
    ]
    channel = Recorder()
    agent = package.RemoteAgent(channel)
    asyncio.run(agent.session_set_config_option(session_id="s", type="boolean", value=True))
    asyncio.run(agent.session_set_config_option(session_id="s", type="new"))
    assert [params["type"] for _, params in channel.sent] == ["boolean", "new"]


def test_a_handler_takes_the_message_and_has_its_description(package: ModuleType) -> None:
    assert [*inspect.signature(package.Agent.session_new).parameters] == ["self", "request"]
    assert [*inspect.signature(package.Agent.session_cancel).parameters] == ["self", "notification"]
    assert "Start it." in package.Agent.session_new.__doc__
    assert "clientCapabilities.fs.readTextFile" in package.RemoteClient.fs_read_text_file.__doc__


def test_notify_takes_extension_methods_also_where_the_schema_has_no_notification(generate: Generate) -> None:
    class ExtensionRecorder(Recorder):
        async def notify(self, method: Any, params: Any) -> None:
            self.sent.append((method.wire, params))

    definitions = {name: definition for name, definition in DEFINITIONS.items() if not name.endswith("Notification")}
    for value in (definitions, DEFINITIONS):
        channel = ExtensionRecorder()
        agent = generate(value).RemoteAgent(channel)
        asyncio.run(agent.notify(ExtNotification("_acme/log", Model), Model()))
        assert channel.sent == [("_acme/log", Model())]


def test_a_handler_refuses_an_extension_that_its_schema_has(package: ModuleType) -> None:
    for wire in ("session/new", "session/cancel"):
        with pytest.raises(TypeError, match="it is a method of the schema"):
            type("Wrong", (package.Agent,), {"other": handles(ExtNotification(wire, Model, unprefixed=True))(_handle)})


async def _handle(self: Any, params: Any) -> None: ...


def test_a_method_named_like_an_attribute_of_the_bases_gets_an_underscore(
    generate: Generate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["request", "notify", "call", "capabilities", "peer_info", "handler", "process", "supports"]
    entries = "".join(f'"{name}" = {{ offered = "always" }}\n' for name in names)
    (tmp_path / "methods.toml").write_text(f"{METHODS_TOML.read_text('utf-8')}\n{entries}", "utf-8")
    monkeypatch.setattr("codegen.data.facts_file.METHODS_TOML", tmp_path / "methods.toml")
    definitions: Schema = {}
    for name in names:
        definitions |= request(name, pascal(name), model(a=STRING), on="proxy")
    channel = Recorder()
    agent = generate(definitions, "v2_draft", "v2/schema.json")
    for name in names:
        asyncio.run(getattr(agent.RemoteAgent(channel), f"{name}_")(a="x"))
        assert f"{name}_" in vars(agent.Agent)
    assert channel.sent == [(name, {"a": "x"}) for name in names]


def test_a_profile_exports_its_models_roles_version_and_source(package: ModuleType) -> None:
    assert {"Agent", "RemoteClient", "PROTOCOL_VERSION", "SCHEMA", "NewRequest"} <= set(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
    assert package.PROTOCOL_VERSION == 1
    assert package.SCHEMA.file == "v1/schema.json"
    with pytest.raises(AttributeError):
        package.Unheard  # noqa: B018


@pytest.mark.parametrize(
    ("file", "profile", "version"),
    [
        ("schema.json", "v1_unstable", 1),
        ("v1/schema.unstable.json", "v1_unstable", 1),
        ("v2/schema.json", "v2_draft", 2),
        ("v2/schema.unstable.json", "v2_draft_unstable", 2),
    ],
)
def test_the_path_of_a_schema_decides_its_profile(generate: Generate, file: str, profile: str, version: int) -> None:
    package = generate({"Text": model(["text"], text=STRING)}, profile, file)
    assert version == package.PROTOCOL_VERSION
    assert package.Text(text="x").text == "x"


def test_a_tagged_union_as_params_takes_the_keywords_of_each_member(generate: Generate) -> None:
    params = {"anyOf": [tagged("mode", "form", "Text"), tagged("mode", "url", "Link")]}
    own = {"Text": model(["text"], text=STRING), "Link": model(["url"], url=STRING)}
    package = generate(own | request("session/request_permission", "Ask", params, on="client"))
    channel = Recorder()
    client = package.RemoteClient(channel)
    asyncio.run(client.session_request_permission(url="u"))
    assert channel.sent == [("session/request_permission", {"mode": "url", "url": "u"})]


def _own(cls: type) -> set[str]:
    return {name for name, value in vars(cls).items() if inspect.isfunction(value)}


def test_a_deprecated_method_of_the_proxy_is_marked(generate: Generate) -> None:
    params = {name: {**DEFINITIONS[name], "deprecated": True} for name in ("NewRequest", "SetRequest")}
    package = generate({**DEFINITIONS, **params})
    channel = Recorder()
    text = "`session/new` is deprecated in the protocol."
    assert package.RemoteAgent.session_new.__deprecated__ == text
    assert package.RemoteAgent.session_set_config_option.__deprecated__  # which has overloads
    assert "Deprecated." in str(inspect.getdoc(package.Agent.session_new))
    assert not hasattr(package.RemoteAgent.session_cancel, "__deprecated__")
    assert not hasattr(package.Agent.session_new, "__deprecated__")
    with pytest.warns(DeprecationWarning, match=text):
        asyncio.run(package.RemoteAgent(channel).session_new(cwd="/"))
    assert channel.sent == [("session/new", {"cwd": "/"})]
