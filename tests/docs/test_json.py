"""The JSON of every page is valid: messages against the method's params, other objects against the model they name."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.support.docs.blocks import Block, blocks, name, pages
from tools.paths import ROOT

SCHEMA: dict[str, Any] = json.loads((ROOT / "schema" / "v1" / "schema.json").read_text("utf-8"))
# Parsing all pages takes long, and every process that collects tests does it.
WITH_JSON = [page for page in pages() if "``json" in page.read_text("utf-8")]
EXAMPLES = [(page, block) for page in WITH_JSON for block in blocks(page) if block.language == "json"]
IDS = [f"{name(page)}:{block.line}" for page, block in EXAMPLES]


@pytest.mark.parametrize("block", [block for _, block in EXAMPLES], ids=IDS)
def test_the_json_of_a_page_is_valid(block: Block) -> None:
    kind, model = block.remark or ("json", None)
    assert kind == "json", "JSON is always parsed; write <!-- json: none, <reason> --> if it has no schema"
    for value in _values(block.text):
        if model and model.startswith("none, "):
            continue
        if model:
            _validate(model, value)
        else:
            _validate_message(value)


def _values(text: str) -> list[Any]:
    """Return the value, or one value for each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def _validate_message(message: dict[str, Any]) -> None:
    assert message["jsonrpc"] == "2.0"
    if "method" not in message:
        assert "id" in message, "a response has the id of its request"
        assert ("result" in message) != ("error" in message)
        return
    if not message["method"].startswith("_"):
        kind = "Request" if "id" in message else "Notification"
        (model,) = [
            definition
            for definition, schema in SCHEMA["$defs"].items()
            if schema.get("x-method") == message["method"] and definition.endswith(kind)
        ]
        _validate(model, message["params"])


def _validate(model: str, value: Any) -> None:
    # Not the whole schema, which is that of whole messages.
    validator = jsonschema_rs.validator_for({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{model}"})
    assert [error.message for error in validator.iter_errors(value)] == []
