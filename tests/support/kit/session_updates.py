"""Session updates: random ones that the schema of a profile allows, and those of recorded traffic."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from acp_bindings import v1, v1_unstable, v2_draft, v2_draft_unstable
from tests.support.models.modules import raw_schema

PROFILES: dict[str, Any] = {"v1": v1, "v1_unstable": v1_unstable}
PROFILES_V2: dict[str, Any] = {"v2_draft": v2_draft, "v2_draft_unstable": v2_draft_unstable}
Json = dict[str, Any]

TEXTS = ["", "a", "b c", "\n", "\u00e9\U0001f600", "\u0000"]
BASE64 = ["", "AA==", "YWI=", "Yw=="]
# By the name of a property, if the schema says too little of its texts.
TEXTS_OF: dict[str, list[str]] = {
    "blob": BASE64,
    "cwd": ["/work"],
    "data": BASE64,
    "mimeType": ["image/png", "text/plain"],
    "name": ["tool"],
    "newPath": ["/a"],
    "oldPath": ["/a"],
    "path": ["/a", "/b"],
    "updatedAt": ["2026-01-01T00:00:00Z"],
    "uri": ["file:///a"],
}
PLAIN = "plain text"
META = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([1, None, {"c": None}]))


def parse(update: Json, profile: Any = v1) -> Any:
    """Return the model of an update."""
    name = "SessionNotification" if profile.PROTOCOL_VERSION == 1 else "UpdateSessionNotification"
    return getattr(profile, name).model_validate({"sessionId": "s", "update": update}).update


def dump(model: Any) -> Any:
    return json.loads(model.model_dump_json())


def text_chunk(text: str, role: str = "agent_message", message_id: str | None = None) -> Any:
    more = {} if message_id is None else {"messageId": message_id}
    return parse({"sessionUpdate": f"{role}_chunk", "content": {"type": "text", "text": text}, **more})


@cache
def updates_of(profile: str) -> st.SearchStrategy[Json]:
    """Return updates of every kind of a profile as JSON, with unknown keys. Many are plain chunks of text."""
    definitions = raw_schema(profile)["$defs"]
    values = _Values(definitions)
    plain = st.builds(
        lambda kind, text, id: {
            "sessionUpdate": kind,
            "content": {"type": "text", "text": text},
            **({"messageId": id} if id or profile != "v1" else {}),
        },
        st.sampled_from(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]),
        st.sampled_from(TEXTS),
        st.sampled_from(["", "", "1"]),
    )
    kinds: dict[str, list[st.SearchStrategy[Json]]] = defaultdict(list, {PLAIN: [plain]})
    for kind in values.alternatives(definitions["SessionUpdate"]):
        tag = kind["properties"]["sessionUpdate"].get("const", "")
        if tag == "compaction_summary_chunk":
            del kind["properties"]["_meta"]  # a plain chunk after it is one block with it
        # Version 2 keeps unknown keys of tool calls only.
        keeps_unknown = "tool_call" in tag if profile != "v1" else not tag.startswith("compaction")
        kinds[tag].append(values.object(kind, {"own": st.just([1])} if keeps_unknown else {}))
    return st.sampled_from([*kinds, PLAIN, PLAIN]).flatmap(lambda kind: st.one_of(kinds[kind]))


class _Values:
    """Makes the values that a schema allows. Its texts are few, so that ids are the same."""

    def __init__(self, definitions: Json) -> None:
        self._definitions = definitions

    def alternatives(self, schema: Json) -> list[Json]:
        """Return the schemas that a schema stands for, without references and unions."""
        parts = [[part] for part in schema.get("allOf", ())]
        parts += [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]
        if "$ref" in schema:
            parts.append([self._definitions[schema["$ref"].removeprefix("#/$defs/")]])
        choices = [[chosen for member in members for chosen in self.alternatives(member)] for members in parts]
        return [_merge(schema, *choice) for choice in product(*choices)]

    def of(self, schema: Json, name: str, depth: int) -> st.SearchStrategy[Any]:
        """Return the values of a property, or of its items."""
        return st.one_of([self._of_alternative(chosen, name, depth) for chosen in self.alternatives(schema)])

    def object(self, schema: Json, more: Json, depth: int = 0) -> st.SearchStrategy[Json]:
        """Return objects. Deep inside, they have no optional properties."""
        tags = {tag for member in schema.get("not", {}).get("anyOf", ()) for tag in member["properties"]}
        required = {
            key: st.just("_own") if key in tags else self.of(schema["properties"][key], key, depth + 1)
            for key in schema["required"]
        }
        optional = {
            key: self.of(value, key, depth + 1)
            for key, value in schema["properties"].items()
            if key not in required and depth < 2
        }
        return st.fixed_dictionaries(required, optional=optional | more)

    def _of_alternative(self, schema: Json, name: str, depth: int) -> st.SearchStrategy[Any]:
        if "const" in schema:
            return st.just(schema["const"])
        if schema["properties"]:
            return self.object(schema, {}, depth)
        types = schema.get("type", "anything")
        listed = [types] if isinstance(types, str) else types
        return st.one_of([self._of_type(type, schema, name, depth) for type in listed])

    def _of_type(self, type: str, schema: Json, name: str, depth: int) -> st.SearchStrategy[Any]:
        if type == "array":
            return st.lists(self.of(schema["items"], "", depth), min_size=schema.get("minItems", 0), max_size=2)
        if type == "string":
            texts = ["1", "2", "3"] if name.endswith("Id") else TEXTS_OF.get(name, TEXTS)
            return st.sampled_from([text for text in texts if len(text) >= schema.get("minLength", 0)])
        least = schema.get("minimum", 0)
        return {
            "null": st.none(),
            "boolean": st.booleans(),
            "integer": st.integers(least, least + 9),
            "number": st.sampled_from([0.5, 1.0]),
            "object": META,
            "anything": st.sampled_from([{"a": 1}, [], 0, False, "text"]),
        }[type]


def _merge(*schemas: Json) -> Json:
    merged: Json = {}
    for schema in schemas:
        merged |= {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
    merged["properties"] = {key: value for schema in schemas for key, value in schema.get("properties", {}).items()}
    merged["required"] = [key for schema in schemas for key in schema.get("required", ())]
    return merged


def recorded_sessions() -> Iterator[tuple[str, list[Any]]]:
    """Yield the updates of each session in the recordings. Skip the test if there are none."""
    folder = os.environ.get("ACP_RECORDINGS")
    if folder is None:
        pytest.skip("ACP_RECORDINGS names no folder with recorded traffic.")
    for file in sorted(Path(folder).glob("*.jsonl")):
        sessions: dict[str, list[Any]] = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            message = json.loads(line)["msg"]
            if message.get("method") == "session/update":
                params = v1.SessionNotification.model_validate(message["params"])
                sessions.setdefault(params.session_id, []).append(params.update)
        yield from ((f"{file.stem} {session_id}", updates) for session_id, updates in sessions.items())
