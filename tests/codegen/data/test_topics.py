"""`topics.toml`: the topic of each definition, and mistakes in the file, which stop the generator with one sentence."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from codegen.__main__ import main
from codegen.data import topics as topics_module
from codegen.data.topics import TOPICS_TOML, Topic, find_topics, parse_topics, read_topics
from codegen.errors import FileError
from codegen.ir import Schema
from codegen.pinned.pins import load
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, acp_schema, model, part_of, ref
from tools.paths import ROOT

TEXT = TOPICS_TOML.read_text("utf-8")
LOW = Topic("low", "Low", "The lowest.", ("Size",), ())
HIGH = Topic("high", "High", "The next.", ("Box",), ("session/update",))
LAST = Topic("last", "Last", "The rest.", (), ("session/",))
TOPICS = (LOW, HIGH, LAST)
DEFINITIONS = {
    "Box": model(label=ref("Label"), size=ref("Size")),
    "Label": model(size=ref("Size"), text=STRING),
    "Size": {"type": "string"},
    "Unused": model(label=ref("Label"), mark=ref("Mark")),
    "Mark": STRING,
    "LoadRequest": part_of("session/load", "agent", model(box=ref("Box"), mark=ref("Mark"))),
    "LoadResponse": part_of("session/load", "agent", model()),
}


def schema_of(definitions: dict[str, Any]) -> Schema:
    return read_schema(acp_schema(definitions), None)


def placed(definitions: dict[str, Any], topics: tuple[Topic, ...] = TOPICS) -> dict[str, str]:
    return {name: topic.name for name, topic in find_topics(schema_of(definitions), topics).items()}


@cache
def pinned() -> dict[str, Schema]:
    result = load(ROOT / "schema", pinned=True)
    return {finding.profile.name: read_schema(finding.schema, finding.profile.own_tables) for finding in result}


# Where definitions are


def test_a_topic_has_the_definitions_that_it_lists_with_their_parts() -> None:
    places = placed(DEFINITIONS)
    own = {topic: [name for name in DEFINITIONS if places[name] == topic] for topic in ("low", "high")}
    assert own == {"low": ["Size"], "high": ["Box", "Label"]}


def test_a_method_brings_its_params_and_its_result() -> None:
    places = placed(DEFINITIONS)
    assert {places[name] for name in ("LoadRequest", "LoadResponse", "Mark")} == {"last"}
    exact = (LOW, HIGH, Topic("load", "Load", "Loading.", (), ("session/load",)), LAST)
    places = placed(DEFINITIONS, exact)
    assert {places[name] for name in ("LoadRequest", "LoadResponse", "Mark")} == {"load"}


def test_definitions_that_no_topic_reaches_are_in_the_last_one_and_envelopes_in_none() -> None:
    places = placed(DEFINITIONS)
    assert places["Unused"] == "last"
    assert not places.keys() & schema_of(DEFINITIONS).envelopes


def test_the_order_of_the_schema_does_not_matter() -> None:
    assert placed(dict(reversed(DEFINITIONS.items()))) == placed(DEFINITIONS)


@pytest.mark.parametrize(
    ("user", "topic"), [("Size", "low"), ("Label", "high"), ("Box", "high"), ("LoadRequest", "last"), (None, "last")]
)
def test_a_new_definition_is_with_its_first_user_and_moves_no_other(user: str | None, topic: str) -> None:
    changed: dict[str, Any] = {**DEFINITIONS, "New": model(size=ref("Size"))}
    if user == "Size":
        changed[user] = model(new=ref("New"))
        changed["New"] = STRING
    elif user:
        properties = {**DEFINITIONS[user]["properties"], "new": ref("New")}
        changed[user] = {**DEFINITIONS[user], "properties": properties}
    assert placed(changed) == {**placed(DEFINITIONS), "New": topic}


def test_no_definition_of_a_pinned_schema_consists_of_one_in_a_later_topic() -> None:
    order = read_topics()
    for schema in pinned().values():
        topics = find_topics(schema, read_topics())
        assert topics.keys() == schema.definitions.keys() - schema.envelopes
        later = [
            (name, used)
            for name in topics
            for used in schema.uses(name)
            if order.index(topics[used]) > order.index(topics[name])
        ]
        assert later == []


def test_a_definition_is_in_the_same_topic_in_all_profiles_of_a_version() -> None:
    for version in ("v1", "v2_draft"):
        places = [find_topics(pinned()[name], read_topics()) for name in (version, f"{version}_unstable")]
        assert {name for name in places[0].keys() & places[1].keys() if places[0][name] != places[1][name]} == set()


# Mistakes


def entries(**changes: Any) -> bytes:
    values = {"name": "low", "title": "Low", "text": "The lowest.", "types": [], "methods": []} | changes
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in values.items() if value is not None]
    return "\n".join(["[[topics]]", *lines]).encode()


MISTAKES = {
    "not TOML": (b"[[topics", ": Not TOML"),
    "nothing": (b"", "#/topics: The key is missing. The top of the file"),
    "no topic": (b"topics = []", "#/topics: Tuple should have at least 1 item"),
    "unknown key": (entries(since="1"), "#/topics/0/since: There is no such key."),
    "missing key": (entries(text=None), "#/topics/0/text: The key is missing."),
    "empty text": (entries(title=""), "#/topics/0/title: String should have at least 1 character, found ''."),
    "no module": (entries(name="low-level"), "#/topics/0/name: String should match pattern"),
    "a private module": (entries(name="__init__"), "#/topics/0/name: String should match pattern"),
    "a topic twice": (entries() + b"\n" + entries(), "'low' is listed twice."),
    "a type twice": (entries(types=["A", "A"]), "'A' is listed twice."),
    "a method twice": (
        entries(methods=["a/"]) + b"\n" + entries(name="b", methods=["a/"]),
        "'the method a/' is listed twice.",
    ),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_form_of_the_file_is_reported_in_a_sentence(content: bytes, message: str) -> None:
    with pytest.raises(FileError) as error:
        parse_topics(content)
    assert str(error.value).startswith("codegen/topics.toml")
    assert message in str(error.value)


@pytest.fixture
def other_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the file, which the generator reads instead."""
    path = Path(shutil.copy(TOPICS_TOML, tmp_path))
    monkeypatch.setattr(topics_module, "TOPICS_TOML", path)
    read_topics.cache_clear()
    yield path
    read_topics.cache_clear()


def test_a_missing_file_stops_the_generator(
    other_topics: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_topics.unlink()
    assert main(["regen", "--schema", str(ROOT / "schema"), "--output", str(tmp_path / "out")]) == 2
    assert "codegen/topics.toml: The file can't be read" in capsys.readouterr().err
