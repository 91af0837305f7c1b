"""A schema that the generator has no rule for stops it with a message: file, pointer, reason. Nothing is written."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.__main__ import GENERATED, main
from codegen.data.facts_file import METHODS_TOML
from codegen.regen import read_schema
from tests.codegen.read.refusals_of_methods import METHODS
from tests.codegen.read.refusals_of_types import TYPES
from tests.codegen.read.refusals_of_unions import NAMES, UNIONS
from tests.support.codegen.build import STRING, Schema, model, part_of, request, tree, write_schema
from tests.support.codegen.refusal_base import BASE, Case, at, batch, changed, put, with_batches

PLACES = {
    "the root": "",
    "a message": "/anyOf/0",
    "a part of a message": "/anyOf/0/anyOf/1",
    "the version of a message": "/anyOf/0/properties/jsonrpc",
    "a definition": "/$defs/Text",
    "an enum": "/$defs/Kind",
    "a value of an enum": "/$defs/Kind/oneOf/0",
    "a property": "/$defs/Text/properties/text",
    "the items of an array": "/$defs/Holder/properties/items/items",
    "a union": "/$defs/Block",
    "a union member": "/$defs/Block/anyOf/0",
    "a tag": "/$defs/Block/anyOf/0/properties/type",
    "a reference": "/$defs/Block/anyOf/0/allOf/0",
    "an open member": "/$defs/Block/anyOf/1",
    "an open tag": "/$defs/Block/anyOf/1/properties/type",
    "the exclusion of an open member": "/$defs/Block/anyOf/1/not",
    "an excluded tag": "/$defs/Block/anyOf/1/not/anyOf/0/properties/type",
    "an envelope": "/$defs/ClientRequest",
    "the params of an envelope": "/$defs/ClientRequest/properties/params",
}

CASES: dict[str, Case] = {**METHODS, **UNIONS, **NAMES, **TYPES}
MALFORMED: dict[str, Any] = {
    "/$defs/Text/properties/text": 5,
    "/$defs/Text/properties": [],
    "/$defs/Text/required": "text",
    "/$defs/Text/type": 5,
    "/$defs/Text/description": ["a"],
    "/$defs/Kind/oneOf": {},
    "/$defs/Kind/oneOf/0": "a",
    "/$defs/Block/anyOf/1/not": True,
    "/$defs/Holder/properties/items/items": [STRING],
    "/$defs/Holder/properties/items/items/$ref": 5,
    "/$defs/NewRequest/x-method": True,
    "/$defs/NewRequest/x-side": None,
    "/$defs/Text": None,
    "/anyOf": None,
    "/anyOf/0": [],
}


def refused(schema_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], code: int = 1) -> str:
    """Regenerate over an existing package, which must not change, and return the message on stderr."""
    output = tmp_path / "output"
    (output / "acp_bindings/v1/models").mkdir(parents=True, exist_ok=True)
    (output / "acp_bindings/v1/models/other.py").write_text("# as it was\n", "utf-8")
    before = tree(output)
    assert main(["regen", "--schema", str(schema_folder), "--output", str(output)]) == code
    assert tree(output) == before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.strip()


Refuse = Callable[..., str]


@pytest.fixture
def refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refuse:
    return lambda schema, code=1: refused(write_schema(tmp_path / "schema", schema), tmp_path, capsys, code)


def test_the_schema_without_a_change_is_accepted(tmp_path: Path) -> None:
    schema = write_schema(tmp_path / "schema", BASE)
    assert main(["regen", "--schema", str(schema), "--output", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("shared", [[], ["ProtocolLevelNotification"]])
def test_a_schema_with_batches_has_the_methods_of_its_messages(shared: list[str]) -> None:
    calls = batch("ClientBatchCall", "Request", "Notification", *shared)
    assert read_schema(with_batches(calls), "v1").methods == read_schema(BASE, "v1").methods


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_an_unknown_keyword_stops_the_generator_in_any_place(refuse: Refuse, place: str) -> None:
    error = refuse(at(place, **{"x-new": True}))
    assert error.startswith(f"codegen: v1/schema.json#{place}/x-new: ")
    assert "has no rule" in error


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_schema_without_a_rule_stops_the_generator(refuse: Refuse, case: Case) -> None:
    schema, pointer, words = case
    error = refuse(schema)
    assert error.startswith(f"codegen: v1/schema.json#{pointer}: ")
    assert words in error
    assert error.endswith(".") or error.endswith("?")


def _names_in_use() -> list[str]:
    """Return the names of the classes and types that generated modules import in addition to models."""
    without_models = {
        *GENERATED.rglob("connecting.py"),
        *GENERATED.rglob("versions.py"),
        *GENERATED.glob("*/*/updates.py"),
    }
    paths = [path for path in GENERATED.rglob("*.py") if path not in without_models]
    results = [(path, node) for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    imports = [(path, node) for path, node in results if isinstance(node, ast.ImportFrom)]
    others = [node for path, node in imports if not node.level or "models" not in (node.module, path.parent.name)]
    names = {name.name for node in others for name in node.names}
    return sorted(name for name in names if name[0].isupper() and "_" not in name)


@pytest.mark.slow
def test_a_definition_with_a_name_that_generated_code_uses_stops_the_generator(refuse: Refuse) -> None:
    for name in [*_names_in_use(), "BaseModel", "PROFILE", "SCHEMA"]:
        error = refuse(changed(**{name: model()}))
        assert error.startswith(f"codegen: v1/schema.json#/$defs/{name}: ")
        assert "for something else" in error


@pytest.mark.parametrize("pointer", MALFORMED)
def test_a_malformed_schema_stops_the_generator(refuse: Refuse, pointer: str) -> None:
    assert refuse(put(pointer, MALFORMED[pointer])).startswith(f"codegen: v1/schema.json#{pointer}: ")


METHOD_NAMES = {
    "the name of another method": ("session_new", "gives the name SESSION_NEW, which 'session/new' has already"),
    "the name of a table": ("agent/requests", "gives the name AGENT_REQUESTS"),
    "a keyword": ("class", "can't be the name of a method"),
    "an empty name": ("$/", "can't be the name of a method"),
}


@pytest.mark.parametrize(("wire", "words"), METHOD_NAMES.values(), ids=METHOD_NAMES)
def test_a_method_without_a_name_of_its_own_stops_the_generator(
    refuse: Refuse, wire: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = METHODS_TOML.read_text("utf-8").partition("[v1.agent]")[0]
    entries = [f'"{method}" = {{ offered = "always" }}\n' for method in (wire, "session/new", "session/cancel")]
    (tmp_path / "methods.toml").write_text(f"{shared}[v1.agent]\n{''.join(entries)}", "utf-8")
    monkeypatch.setattr("codegen.data.facts_file.METHODS_TOML", tmp_path / "methods.toml")
    error = refuse(changed(**request(wire, "Other")))
    assert error.startswith("codegen: v1/schema.json#/$defs/OtherRequest/x-method: ")
    assert words in error


READERS = {
    "a keyword that no pass knows": (at("/$defs/Text", **{"x-new": True}), "codegen/read/vocabulary.py"),
    "a keyword on a property": (at("/$defs/Text/properties/text", minItems=1), "codegen/read/properties.py"),
    "a keyword on an object": (at("/$defs/Text", pattern="x"), "codegen/read/variants.py"),
    "a side": (changed(NewRequest=part_of("session/new", "server", model())), "codegen/read/methods.py"),
}


@pytest.mark.parametrize(("schema", "file"), READERS.values(), ids=READERS)
def test_the_message_names_the_file_that_needs_a_rule(refuse: Refuse, schema: Schema, file: str) -> None:
    assert refuse(schema).endswith(
        f"Add a rule for it to {file} and run the command again, or report it upstream if it is a mistake."
    )


INVALID = ("a reference to nowhere", "a member that wraps a missing definition", "an alias of itself")


@pytest.mark.parametrize("schema", [*(TYPES[name][0] for name in INVALID), put("/$defs/Text/properties/text", 5)])
def test_no_rule_is_asked_for_if_the_schema_is_invalid(refuse: Refuse, schema: Schema) -> None:
    assert refuse(schema).endswith(" The schema is invalid: report it upstream.")
