"""migrate/acp_migrate/names.toml says the truth about every public name of the official Python SDK."""

from __future__ import annotations

import json
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from acp_migrate.files import File
from acp_migrate.migration import migrate
from acp_migrate.names import STABLE, UNSTABLE, Gone, Target, load
from tests.support.migration.names_page import PAGE, inspected, merged, page
from tests.support.skipping import skip_without
from tools.third_party import NEXT_PYTHON_SDK, PYTHON_SDK, UnavailableError, python_in, python_sdk

# The group shares the import of libcst, and a process that inspects the SDK.
pytestmark = pytest.mark.xdist_group("libcst")

NAMES = load()

# The fields of models that upstream has removed since the schema of the SDK.
REMOVED = {
    "AgentCapabilities": {"nes", "positionEncoding", "providers"},
    "ClientCapabilities": {"nes", "plan", "positionEncodings"},
    "McpCapabilities": {"acp"},
    "MessageMcpNotification": {"connectionId"},
    "MessageMcpRequest": {"connectionId"},
    "PromptResponse": {"usage"},
    "SessionCapabilities": {"fork"},
}

# Calls of all helper functions.
HELPERS = """
from acp.helpers import *
import json

block = text_block("hi")
made = [
    block,
    image_block("aQ==", "image/png", uri="file:///a.png"),
    image_block("aQ==", "image/png"),
    audio_block("aQ==", mime_type="audio/wav"),
    resource_link_block("a", "file:///a", size=1, title="A"),
    resource_block(embedded_text_resource("file:///a", "hi", mime_type="text/plain")),
    resource_block(embedded_blob_resource("file:///a", "aQ==")),
    tool_content(block),
    tool_diff_content("/a", "new"),
    tool_diff_content("/a", "new", "old"),
    tool_terminal_ref("1"),
    update_plan([plan_entry("think"), plan_entry("act", priority="high", status="completed")]),
    update_user_message(block),
    update_user_message_text("hi"),
    update_agent_message(block),
    update_agent_message_text("hi"),
    update_agent_thought(block),
    update_agent_thought_text("hi"),
    update_available_commands([]),
    update_current_mode("ask"),
    session_notification("1", update_agent_message_text("hi")),
    start_tool_call("1", "Read", kind="read", content=[tool_content(block)], raw_input={"a": 1}),
    start_tool_call("1", "Read", kind=None, status=None),
    start_read_tool_call("1", "Read", "/a"),
    start_read_tool_call("1", "Read", "/a", extra_options=[tool_content(block)]),
    start_edit_tool_call("1", "Edit", "/a", "new", extra_options=[tool_diff_content("/a", "new")]),
    update_tool_call("1", title="Read", status="completed", raw_output=1),
]
print(json.dumps([model.model_dump(mode="json", by_alias=True, exclude_none=True) for model in made]))
"""


# Names of versions before 0.12, which projects still use.
OLDER = {
    *("DefaultMessageDispatcher", "DisableProvidersRequest", "DisableProvidersResponse", "FileSystemCapability"),
    *("InMemoryMessageQueue", "InMemoryMessageStateStore", "IncomingMessage", "KillTerminalCommandRequest"),
    *("KillTerminalCommandResponse", "MessageDispatcher", "MessageQueue", "MessageStateStore", "ModelInfo"),
    *("NotificationRunner", "OutgoingMessage", "RequestRunner", "RpcTask", "RpcTaskKind", "SenderFactory"),
    *("SessionModelState", "SetProvidersRequest", "SetProvidersResponse", "SetSessionModelRequest"),
    *("SetSessionModelResponse", "UntitledMultiSelectItems"),
}


@pytest.fixture(scope="module", autouse=True)
def _has_sdk() -> None:
    try:
        merged()
    except UnavailableError as reason:
        skip_without("The Python SDK can't be installed", reason)


@pytest.fixture(params=[PYTHON_SDK, NEXT_PYTHON_SDK])
def sdk_names(request: pytest.FixtureRequest) -> dict[str, Any]:
    return inspected(request.param)


def test_every_public_name_of_the_sdk_is_known(sdk_names: dict[str, Any]) -> None:
    named = [(module, name) for module, names in sdk_names["modules"].items() for name in names]
    assert len(named) > 500
    assert [value for value in named if NAMES.find(value[1]) is None] == []


@pytest.mark.parametrize("profile", [STABLE, UNSTABLE])
def test_every_name_here_can_be_imported(sdk_names: dict[str, Any], profile: str) -> None:
    results = {load(profile).find(name) for names in sdk_names["modules"].values() for name in names}
    targets = [target for target in results if isinstance(target, Target)]
    missing = [target for target in targets if not hasattr(import_module(target.module), target.name)]
    assert missing == []
    assert any(isinstance(name, Gone) for name in results)


def test_every_name_in_the_data_is_a_name_of_the_sdk() -> None:
    public = {name for names in merged()["modules"].values() for name in names} | OLDER
    private = {"NdjsonTransport", "Transport", "memory_transport_pair"}  # of acp._transport, which people use, too
    assert NAMES.known - public - private == set()


def test_methods_have_the_parameters_of_the_sdk(sdk_names: dict[str, Any]) -> None:
    for role in ("agent", "client"):
        theirs = {
            name: params
            for name, params in sdk_names[role].items()
            if name not in {*NAMES.notes, *NAMES.dead} or name in NAMES.methods[role]
        }
        ours = {name: [*method.params] for name, method in NAMES.methods[role].items() if name in theirs}
        assert ours == theirs
        assert {*NAMES.methods[role]} <= {*merged()[role]}


def test_the_keywords_of_methods_are_fields_of_the_requests() -> None:
    for role, methods in load(UNSTABLE).methods.items():
        tables = import_module(f"{UNSTABLE}.methods")
        ours = {
            method.name: method
            for kind in ("REQUESTS", "NOTIFICATIONS")
            for method in getattr(tables, f"{role.upper()}_{kind}").values()
        }
        for method in methods.values():
            params = ours[method.new].params_type
            members = [params] if hasattr(params, "model_fields") else leaves(params)
            for name in method.params:
                assert all(name in member.model_fields for member in members), (method, name)


def leaves(union: Any) -> list[Any]:
    """The models of a union."""
    args = get_args(union)
    return [union] if hasattr(union, "model_fields") else [leaf for argument in args for leaf in leaves(argument)]


def test_errors_are_the_class_methods_of_the_sdk(sdk_names: dict[str, Any]) -> None:
    assert {*NAMES.errors} - {"request_cancelled"} <= {*sdk_names["errors"]} <= {*NAMES.errors}


def test_models_have_the_wire_names_and_tags_of_the_sdk(sdk_names: dict[str, Any]) -> None:
    compared = 0
    for name, theirs in sdk_names["models"].items():
        target = NAMES.find(name)
        cls: Any = getattr(import_module(target.module), target.name) if isinstance(target, Target) else None
        if not hasattr(cls, "model_fields"):
            continue
        compared += 1
        ours = {
            model_field.alias or field: (field, model_field.annotation)
            for field, model_field in cls.model_fields.items()
        }
        for field, (wire, tag) in theirs.items():
            if wire in REMOVED.get(name, ()):
                assert wire not in ours, f"remove {wire} of {name} from the list"
                continue
            assert wire in ours, (name, wire)
            assert field.replace("field_meta", "meta") == ours[wire][0]
            assert tag is None or get_args(ours[wire][1]) in ((tag,), ()), (name, wire)
    assert compared > 150


def test_rewritten_calls_of_helper_functions_make_the_same_json() -> None:
    theirs = subprocess.run(
        [python_in(python_sdk()), "-c", HELPERS], capture_output=True, text=True, timeout=120, check=True
    )
    old = HELPERS.replace("import *", f"import {', '.join(sorted(NAMES.helpers))}")
    [result] = migrate([File(Path("helpers.py"), old.encode())], NAMES)
    assert result.todos == 0
    printed: list[str] = []
    exec(compile(result.content, "helpers.py", "exec"), {"print": printed.append})
    assert json.loads(printed[0]) == json.loads(theirs.stdout)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "Run `python -m tests.support.migration.names_page`."
