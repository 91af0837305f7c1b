"""Union members and items have no class: their titles and descriptions are in the definition around them."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.regen import read_schema
from tests.support.codegen.build import STRING, acp_schema, array

LOW = {"const": "low", "description": "Brief."}
DESCRIBED: dict[str, tuple[Any, list[str]]] = {
    "constants": (
        {"oneOf": [LOW, {"const": "high", "title": "High", "description": "Thorough."}]},
        ["`low`: Brief.", "`high` `High`: Thorough."],
    ),
    "other values": (
        {"anyOf": [LOW, {**STRING, "description": "Anything else."}]},
        ["`low`: Brief.", "Other values: Anything else."],
    ),
    "a group of members": (
        {"anyOf": [{"anyOf": [LOW], "description": "Levels."}, STRING]},
        ["Levels.", "`low`: Brief."],
    ),
    "a member that has only a title": ({"anyOf": [{"title": "level", **STRING}]}, ["`level`"]),
    "items": (array({**STRING, "description": "A line."}), ["Each: A line."]),
    "items with a title": (array({**STRING, "title": "Line", "description": "Of text."}), ["Each `Line`: Of text."]),
    "items whose description begins with their title": (
        array({**STRING, "title": "Line", "description": "**Line** of text."}),
        ["Each: **Line** of text."],
    ),
    "members as the values of a map": (
        {"type": "object", "additionalProperties": {"description": "A level.", "anyOf": [LOW]}},
        ["Each: A level.", "`low`: Brief."],
    ),
    "items without a description": (array(STRING), []),
}


@pytest.mark.parametrize(("schema", "lines"), DESCRIBED.values(), ids=DESCRIBED)
def test_members_and_items_are_described_in_the_definition_around_them(schema: Any, lines: list[str]) -> None:
    definitions = read_schema(acp_schema({"Value": {**schema, "description": "A value."}}), "v1").definitions
    assert definitions["Value"].doc.split("\n\n") == ["A value.", *lines]
