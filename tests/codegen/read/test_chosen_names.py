"""Names that clash or can't be Python names get one from `names.toml`. The error shows the entry."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from codegen.chosen_names import read_chosen_names
from codegen.errors import FileError, SchemaError
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, Schema, acp_schema, initialize, model, ref, request, tagged, wraps
from tests.support.codegen.generating import Generate


@pytest.fixture
def write_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = tmp_path / "names.toml"
    path.write_text("", "utf-8")
    monkeypatch.setattr("codegen.chosen_names.NAMES_TOML", path)
    return lambda text: path.write_text(text, "utf-8")


CLASHES: dict[str, Schema] = {
    "a key that isn't camelCase": {"Text": model(**{"content-type": STRING})},
    "a key that is an attribute already": {"Text": model(**{"fooBar": STRING, "foo_bar": STRING})},
    "a definition that generated code uses": {"Handler": model(), "Text": model(agent=ref("Handler"))},
    "a definition in lower case": {"text": model(), "Text": model(text=ref("text"))},
    "two tags with one name": {"Block": {"anyOf": [tagged("type", "a_b"), tagged("type", "aB")]}},
    "a title with one name": {
        "Block": {"anyOf": [{"title": title, **model(**{title[-1]: STRING})} for title in ("a b", "a-b")]}
    },
    "a tag without letters": {"Block": {"anyOf": [tagged("type", "!")]}},
    "a member named like a definition": {
        "Block": {"anyOf": [tagged("type", "text", "Text")]},
        "BlockText": model(),
        "Text": model(),
    },
    "a method that is a keyword": request("import", "Import"),
    "a method of the bases": request("agent/requests", "Other"),
}


def read(definitions: Schema) -> Any:
    return read_schema(acp_schema(initialize() | definitions), "v1", {"v1": {**FACTS, "agent": METHODS}})


SHARED = ("session", "version", "agent_capabilities", "agent_info", "client_capabilities", "client_info")
FACTS = {"properties": {**dict.fromkeys(SHARED, "x"), "lower": "own"}}
METHODS = {wire: {"offered": "always"} for wire in ("initialize", "import", "agent/requests")}


@pytest.mark.parametrize("definitions", CLASHES.values(), ids=CLASHES)
def test_the_error_shows_an_entry_that_mends_it(write_names: Any, definitions: Schema) -> None:
    with pytest.raises(SchemaError) as error:
        read(definitions)
    words = re.search(r"Name it in (\[\w+\]) of codegen/names.toml, for example: (.*)\.$", str(error.value))
    assert words
    write_names("\n".join(words.groups()))
    assert read(definitions)


NAMES = """
[attributes]
"content-type" = "content_type"

[classes]
"Client" = "Editor"
"Block:a b" = "BlockSpaced"

[methods]
"session/new" = "open_session"
"""


async def test_what_has_an_alias_works_as_everything_else(generate: Generate, write_names: Any) -> None:
    write_names(NAMES)
    text = model(["content-type"], **{"content-type": {**STRING, "description": "The type."}})
    package: Any = generate(
        {
            **initialize(),
            **request("session/new", "New", model(block=ref("Block"), client=ref("Client")), model(block=ref("Block"))),
            "Text": text,
            "Client": text,
            "Block": {"anyOf": [{"title": "a b", **wraps("Text"), **model(x=STRING)}, tagged("type", "a", "Text")]},
        }
    )
    text = package.Text(content_type="a")
    assert text.model_dump_json() == '{"content-type":"a"}'
    assert package.Text.model_validate_json('{"content-type":"a","content_type":1}').content_type == "a"
    assert package.Text.model_json_schema()["properties"]["content-type"]["description"] == "The type."
    with pytest.raises(ValidationError):
        package.Text.model_validate_json("{}")
    assert package.Editor(content_type="a")
    block = package.BlockSpaced(content_type="b", x="y")

    class Agent(package.Agent):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            return package.InitializeResponse(protocol_version=1)

        async def open_session(self, request: Any, /) -> Any:
            return package.NewResponse(block=request.block)

    async with package.connect_in_process(lambda _: Agent(), lambda _: package.Client()) as agent:
        await agent.initialize(protocol_version=1)
        assert (await agent.open_session(block=block, client=package.Editor(content_type="c"))).block == block


def test_the_docstrings_of_stubs_name_an_argument_as_it_is_passed(generate: Generate, write_names: Any) -> None:
    write_names('[attributes]\n"work-dir" = "work_dir"\n')
    text = "The absolute path of the folder. Clients MUST only send this when the Agent advertises `folders`."
    package = generate(
        {
            **initialize(result={"agentCapabilities": ref("Offers")}),
            "Offers": model(folders={"type": "boolean"}),
            **request("session/new", "New", model(**{"work-dir": {**STRING, "description": text}})),
        }
    )
    doc = " ".join(str(package.RemoteAgent.session_new.__doc__).split())
    assert "`agentCapabilities.folders` for `work_dir`." in doc
    assert "`work_dir` is a relative path." in doc


def test_two_definitions_cant_have_one_name(write_names: Any) -> None:
    write_names('[classes]\n"Text" = "Other"\n')
    with pytest.raises(
        SchemaError, match=r"/\$defs/Text: codegen/names\.toml names it Other, but so is another .* Choose another"
    ):
        read({"Text": model(), "Other": model()})


def test_an_attribute_cant_have_the_name_of_another_property(write_names: Any) -> None:
    write_names('[attributes]\n"content-type" = "kind"\n')
    with pytest.raises(SchemaError, match="Two properties have the name kind") as error:
        read({"Text": model(**{"kind": STRING, "content-type": STRING})})
    assert '"content-type" = "kind_"' in str(error.value)


def test_the_class_of_a_member_begins_with_the_name_of_the_union(write_names: Any) -> None:
    write_names('[classes]\n"Block:a" = "First"\n')
    with pytest.raises(SchemaError, match=r"names\.toml names it First, but .* for example: .Block:a. = .Block"):
        read({"Block": {"anyOf": [tagged("type", "a"), tagged("type", "b")]}})


def test_the_tag_of_a_union_has_its_name_by_rule(write_names: Any) -> None:
    write_names('[attributes]\n"content-type" = "content_type"\n')
    with pytest.raises(SchemaError, match=r"no rule for a tag \('content-type'\) that isn't camelCase"):
        read({"Block": {"anyOf": [tagged("content-type", "a")]}})


def test_an_entry_that_cant_be_a_name_is_an_error_about_the_file(write_names: Any) -> None:
    for table, name in (
        ("attributes", "model_config"),
        ("attributes", "_x"),
        ("classes", "text"),
        ("methods", "class"),
    ):
        write_names(f'[{table}]\n"x" = "{name}"\n')
        with pytest.raises(FileError, match=f"codegen/names.toml#/{table}/x: '{name}' can't be the name of"):
            read_chosen_names()
