"""Facts that the generator reads from descriptions, anywhere in a message, and what generated packages do with them."""

from __future__ import annotations

import asyncio
import importlib
import re
import tomllib
from types import ModuleType
from typing import Any

import pytest

from acp_runtime import GuardError
from codegen.data.facts_file import METHODS_TOML
from codegen.errors import SchemaError
from codegen.facts import PlaceFact
from codegen.regen import read_schema
from tests.support.codegen.build import (
    STRING,
    Schema,
    acp_schema,
    array,
    initialize,
    model,
    other,
    ref,
    request,
    tagged,
    wraps,
)
from tests.support.codegen.generating import Generate
from tests.support.runtime.peer import LINKS, calling, serving

BOTH = (
    "Agents MUST only send this when the Client advertised the `notices` Client capability. "
    "Clients MUST only send this when the Agent advertises `notices`."
)
GATED = {"description": BOTH}
PATH = {**STRING, "description": "The absolute path of the file."}
TEXT = tagged("kind", "text")
NOTICE: Schema = {"anyOf": [TEXT, tagged("kind", "notice", **GATED)]}
INNER: Schema = {"anyOf": [tagged("state", "on"), tagged("state", "off", **GATED)]}
OPEN: Schema = {"anyOf": [*INNER["anyOf"], other("state", "on", "off") | GATED]}
OFFERS = {"Offers": model(notices={"type": "boolean"})}
OPENING = initialize({"clientCapabilities": ref("Offers")}, {"agentCapabilities": ref("Offers")}) | OFFERS


def mapped(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


# The type of the property `body`, the definitions it needs, a value, and its place that a guard reports.
PLACES: dict[str, tuple[Schema, Schema, Any, str]] = {
    "a member of a union": (ref("Part"), {"Part": NOTICE}, {"kind": "notice"}, "body.notice"),
    "a member among nullable items": (
        array({"anyOf": [ref("Part"), {"type": "null"}]}),
        {"Part": NOTICE},
        [None, {"kind": "text"}, {"kind": "notice"}],
        "body.notice",
    ),
    "a member in arrays in a map": (
        mapped(array(ref("Part"))),
        {"Part": NOTICE},
        {"a": [], "b": [{"kind": "notice"}]},
        "body.notice",
    ),
    "a member of a union in a union": (
        ref("Part"),
        {"Part": {"anyOf": [TEXT, tagged("kind", "more", "Inner")]}, "Inner": INNER},
        {"kind": "more", "state": "off"},
        "body.more.off",
    ),
    "a member of an open union without a tag in a union": (
        ref("Part"),
        {"Part": {"anyOf": [TEXT, {"title": "more", **wraps("Inner")}]}, "Inner": OPEN},
        {"state": "off"},
        "body.off",
    ),
    "the open member of a union in a union": (
        ref("Part"),
        {"Part": {"anyOf": [TEXT, tagged("kind", "more", "Inner")]}, "Inner": OPEN},
        {"kind": "more", "state": "other"},
        "body.more.*",
    ),
    "a property of a member": (
        ref("Part"),
        {"Part": {"anyOf": [TEXT, tagged("kind", "file", "File")]}, "File": model(path=PATH)},
        {"kind": "file", "path": "relative"},
        "body.file.path",
    ),
    "a property of a member without a tag": (
        ref("Part"),
        {"Part": {"anyOf": [TEXT, {"title": "file", **wraps("File")}]}, "File": model(["path"], path=PATH)},
        {"path": "relative"},
        "body.path",
    ),
    "a property of the base of a member": (
        ref("Part"),
        {
            "Part": {"anyOf": [TEXT, tagged("kind", "file", "Read")]},
            "Read": wraps("File") | model(),
            "File": model(path=PATH),
        },
        {"kind": "file", "path": "relative"},
        "body.file.path",
    ),
    "a definition with the text": (ref("Part"), {"Part": model(a=STRING) | GATED}, {}, "body"),
    "items of a definition": (
        array(ref("Path")),
        {"Path": {**STRING, "description": "An absolute filesystem path."}},
        ["/x", "relative"],
        "body",
    ),
}


def prompting(body: Schema, definitions: Schema) -> Schema:
    """Return a schema in which the params and the result of `session/prompt` have a property `body`."""
    return OPENING | request("session/prompt", "Prompt", model(body=body), model(body=body)) | definitions


def agent_of(package: ModuleType, result: Any) -> Any:
    """Return an agent that answers prompts with this result."""

    class Agent(package.Agent):  # type: ignore[misc,name-defined]
        async def initialize(self, request: Any, /) -> Any:
            return package.InitializeResponse(protocol_version=1)

        async def session_prompt(self, request: Any, /) -> Any:
            return package.PromptResponse.model_validate(result)

    return Agent()


def side(role: str) -> Any:
    return getattr(importlib.import_module("acp_bindings.v1.connecting"), f"{role}_SIDE")


@pytest.mark.parametrize(("body", "definitions", "value", "place"), PLACES.values(), ids=PLACES)
async def test_a_place_is_checked_in_params_and_results_in_both_directions(
    generate: Generate,
    caplog: pytest.LogCaptureFixture,
    body: Schema,
    definitions: Schema,
    value: Any,
    place: str,
) -> None:
    package = generate(prompting(body, definitions))
    link = LINKS["memory"]
    async with calling(link, lambda _: package.Client(), side=side("CLIENT")) as (agent, peer):
        sent: Any = package.PromptRequest.model_validate({"body": value})
        with pytest.raises(GuardError, match=rf"session/prompt.* (with|in) '?{re.escape(place)}(?!\w)"):
            await asyncio.wait_for(agent.request(sent), 10)
        call = asyncio.create_task(agent.request(package.PromptRequest()))
        await peer.answer(result={"body": value})
        await call
        assert f"with {place} in session/prompt" in caplog.text
    caplog.clear()
    async with serving(link, lambda _: agent_of(package, {}), side=side("AGENT")) as peer:
        answer = await peer.call("session/prompt", {"body": value})
        is_rejected = place == "body" and "absolute" in str(definitions)
        assert ("error" in answer) is is_rejected
        assert (f"with {place} in session/prompt" in caplog.text) is not is_rejected
    async with serving(link, lambda _: agent_of(package, {"body": value}), side=side("AGENT")) as peer:
        assert (await peer.call("session/prompt", {}))["error"]["code"] == -32603
        assert "The result of session/prompt" in caplog.text


async def test_params_and_results_can_be_unions_themselves(generate: Generate) -> None:
    package = generate(OPENING | request("session/prompt", "Prompt", NOTICE, NOTICE))
    async with calling(LINKS["memory"], lambda _: package.Client(), side=side("CLIENT")) as (agent, peer):
        with pytest.raises(GuardError, match=r"session/prompt with kind\.notice needs"):
            await asyncio.wait_for(agent.request(package.PromptRequestNotice()), 10)
        call = asyncio.create_task(agent.request(package.PromptRequestText()))
        await peer.answer(result={"kind": "notice"})
        assert (await call).kind == "notice"


async def test_a_member_for_unlisted_tags_is_rejected_where_a_description_says_so(generate: Generate) -> None:
    text = "Agents MUST reject a `session/prompt` request with a part they do not support with `-32602`."
    part = {"anyOf": [TEXT, tagged("kind", "notice", **GATED), other("kind", "text", "notice") | {"description": text}]}
    package = generate(prompting(ref("Part"), {"Part": part}))
    async with serving(LINKS["memory"], lambda _: agent_of(package, {}), side=side("AGENT")) as peer:
        for kind, place in (("notice", "body.notice"), ("_other", "body.*")):
            error = (await peer.call("session/prompt", {"body": {"kind": kind}}))["error"]
            assert error["code"] == -32602
            assert [fault["path"] for fault in error["data"]["errors"]] == [place]
        assert "result" in await peer.call("session/prompt", {"body": {"kind": "text"}})


def test_a_description_that_names_no_capability_stops_the_generator(generate: Generate) -> None:
    text = "Clients MUST only send this when the Agent advertises `notes`."
    with pytest.raises(SchemaError, match="says that it needs notes, which is not a capability here"):
        generate(prompting(ref("Part"), {"Part": model() | {"description": text}}))


def test_the_capability_of_an_entry_takes_precedence_over_the_description() -> None:
    text = "Clients MUST only send this when the Agent advertises `notes`."
    table = tomllib.loads(METHODS_TOML.read_text("utf-8"))
    table["v1"]["places"]["PromptRequest.body"] = {"needs": "agentCapabilities.notices"}
    params = model(body={**STRING, "description": text})
    raw = acp_schema(OPENING | request("session/prompt", "Prompt", params))
    facts = {method.wire: method.params_facts for method in read_schema(raw, "v1", table).methods}
    assert facts["session/prompt"] == (PlaceFact("Needs", "body", "agentCapabilities.notices"),)


def test_members_without_a_tag_that_differ_in_a_fact_stop_the_generator(generate: Generate) -> None:
    part = {"anyOf": [{"title": "a", **wraps("File")}, {"title": "b", **wraps("Name")}]}
    definitions = {"Part": part, "File": model(["path"], path=PATH), "Name": model(["path"], path=STRING)}
    with pytest.raises(SchemaError, match=r"The facts about body\.path in session/prompt differ"):
        generate(prompting(ref("Part"), definitions))


@pytest.mark.parametrize(
    "text",
    [
        "No Client capability is required.",
        "Only sent by agents that advertise the `notices` capability.",
        "Only use this when the Agent does not advertise the `notices` capability.",
        "Clients MUST NOT only send this when the Agent advertises `notices`.",
        "Clients MUST only send this when the Agent advertises `notices` or `agentCapabilities`.",
        "Clients MUST only send more than one when the Agent advertises `notices`.",
        "Only available when the Agent lacks `notices`.",
        "Only available when the Agent never advertised `notices`.",
        "The path may be absolute or relative to `cwd`.",
        "Absolute or relative path.",
        "An absolute path is not required.",
        "Must be absolute or relative to `cwd`.",
        "Must be an absolute path or a `file:` URI.",
        "Must be an absolute URL.",
        "Path relative to `cwd`, which must be absolute.",
        "Every path in the text MUST be absolute, including those in `rename from`.",
    ],
)
def test_a_description_that_says_something_else_is_no_fact(text: str) -> None:
    note = {"type": "integer", "description": text} if text.startswith("Every") else {**STRING, "description": text}
    schema = read_schema(acp_schema(prompting(note, {})), "v1")
    assert [fact for method in schema.methods for fact in (*method.params_facts, *method.result_facts)] == []
