"""Keywords that restrict nothing, and shapes that schemars writes, are accepted; what restricts values still isn't."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

from codegen.diff.report import compare
from codegen.errors import SchemaError
from codegen.regen import read_schema
from tests.support.codegen.build import STRING, acp_schema, array, model, ref
from tests.support.codegen.generating import Generate
from tests.support.codegen.refusal_base import at
from tests.support.diff.cases import around
from tests.support.diff.sides import side

TEXT = "a: Annotated[str | None, NotNull]"
SCALARS = [{"type": name} for name in ("null", "boolean", "number", "string")]
MAP = {"type": "object", "additionalProperties": STRING}
# Each with the annotation and the words in the docstring of its property.
ACCEPTED: dict[str, tuple[Any, str, str]] = {
    "deprecated": ({**STRING, "deprecated": True}, TEXT, "Deprecated."),
    "not deprecated": ({**STRING, "deprecated": False}, TEXT, ""),
    "examples": ({**STRING, "examples": ["x", 'y"']}, TEXT, 'Examples: `"x"`'),
    "no examples": ({**STRING, "examples": []}, TEXT, ""),
    "a comment": ({**STRING, "$comment": "internal"}, TEXT, ""),
    "a title": ({**STRING, "title": "A title"}, TEXT, "A title"),
    "read-only": ({**STRING, "readOnly": True}, TEXT, "Read-only; the bindings don't check this."),
    "write-only": ({**STRING, "writeOnly": True}, TEXT, "Write-only; the bindings don't check this."),
    "different items": (
        array(STRING, uniqueItems=True),
        "a: list[str]",
        "No two items are equal;",
    ),
    "an encoding": ({**STRING, "contentEncoding": "base32"}, TEXT, "The encoding is `base32`;"),
    "a media type": ({**STRING, "contentMediaType": "text/plain"}, TEXT, "The media type is `text/plain`;"),
    "a UUID": ({**STRING, "format": "uuid"}, TEXT, "The format is `uuid`;"),
    "a format that is an encoding": ({**STRING, "format": "base64"}, TEXT, "The format is `base64`;"),
    "usize": ({"type": "integer", "format": "uint", "minimum": 0}, "Integer(0, None)", "The format is `uint`;"),
    "f32": ({"type": "number", "format": "float"}, "Number(None, None)", "The format is `float`;"),
    "a UUID or a text": ({"anyOf": [{**STRING, "format": "uuid"}, STRING]}, TEXT, "The format is `uuid`;"),
    "any JSON": (True, "a: Any", ""),
    "any items": (array(True), "a: list[Any]", ""),
    "a member of any JSON": ({"anyOf": [STRING, True]}, "a: str | Any", ""),
    "a map with a name": (ref("Texts"), "a: Annotated[Texts | None, NotNull]", ""),
    "a JSON value": (ref("Json"), "a: Json", ""),
    "a list of itself": (ref("Lists"), "a: Annotated[Lists | None, NotNull]", ""),
    "a definition of any JSON": (ref("Anything"), "a: Anything", ""),
}
DEFINITIONS = {
    "Texts": MAP,
    "Json": {"anyOf": [*SCALARS, array(ref("Json")), {**MAP, "additionalProperties": ref("Json")}]},
    "Lists": array(ref("Nested")),
    "Nested": array(ref("Lists")),
    "Anything": True,
    "Titled": {**model(a=STRING), "title": "A title", "examples": [{"a": "x"}]},
}
HOLDERS = {f"Holder{chr(ord('A') + at)}": name for at, name in enumerate(ACCEPTED)}
PLACES = [
    "/anyOf/0",
    "/$defs/Text",
    "/$defs/Kind",
    "/$defs/Kind/oneOf/0",
    "/$defs/Holder/properties/items",
    "/$defs/Holder/properties/items/items",
    "/$defs/Block",
    "/$defs/Block/anyOf/0",
    "/$defs/Block/anyOf/0/properties/type",
    "/$defs/Block/anyOf/1",
    "/$defs/Block/anyOf/1/properties/type",
    "/$defs/ClientRequest",
    "/$defs/ClientRequest/properties/params",
]
REFUSED = {
    **{key: {} for key in ("patternProperties", "if", "propertyNames", "contains", "dependentRequired")},
    **dict.fromkeys(("unevaluatedProperties", "additionalProperties"), False),
    **dict.fromkeys(("deprecated", "uniqueItems", "readOnly", "examples", "maxProperties"), "x"),
}


@pytest.fixture(scope="module")
def package(generate_once: Generate) -> ModuleType:
    return generate_once({**DEFINITIONS, **{holder: model(a=ACCEPTED[name][0]) for holder, name in HOLDERS.items()}})


@pytest.mark.parametrize("holder", HOLDERS, ids=HOLDERS.values())
def test_what_restricts_nothing_is_accepted_and_kept_as_text(package: ModuleType, holder: str) -> None:
    _, annotation, words = ACCEPTED[HOLDERS[holder]]
    source = inspect.getsource(getattr(package, holder)).replace('\\"', '"')
    assert annotation in source
    assert words in source
    assert "internal" not in source


def test_the_title_and_the_examples_of_a_definition_are_in_its_docstring(package: ModuleType) -> None:
    assert inspect.getdoc(package.Titled) == 'A title\n\nExamples: `{"a": "x"}`.'


@pytest.mark.parametrize("place", PLACES)
def test_annotations_are_accepted_wherever_a_description_is(place: str) -> None:
    annotations = {"deprecated": True, "examples": ["x"], "$comment": "c", "readOnly": True, "uniqueItems": True}
    assert read_schema(at(place, **annotations), "v1")


def test_a_method_is_deprecated_if_the_message_says_so_or_its_params() -> None:
    schema = acp_schema(around("request", {**model(), "deprecated": True}))
    schema["$defs"]["ClientRequest"]["properties"]["params"]["anyOf"][0]["description"] = "Opens."
    schema["$defs"]["AgentNotification"]["properties"]["params"]["anyOf"][0]["deprecated"] = True
    assert [(method.wire, method.deprecated, method.doc) for method in read_schema(schema, "v1").methods] == [
        ("session/new", True, "Opens.\n\nDeprecated."),
        ("session/update", True, "Deprecated."),
    ]


@pytest.mark.parametrize("keyword", REFUSED)
def test_what_restricts_values_stops_the_generator_with_its_pointer(keyword: str) -> None:
    with pytest.raises(SchemaError) as error:
        read_schema(acp_schema({"Holder": {**model(a=STRING), keyword: REFUSED[keyword]}}), "v1")
    assert error.value.pointer == f"/$defs/Holder/{keyword}"


def test_the_report_has_one_line_about_keywords_that_are_no_longer_or_not_checked() -> None:
    old, new = (
        around("request", model(a=STRING, b={"anyOf": [STRING, {"type": "boolean"}]})),
        around(
            "request",
            model(
                a={**STRING, "format": "uuid", "readOnly": True},
                b={"anyOf": [{**STRING, "format": "uuid"}, {"type": "boolean"}]},
            ),
        ),
    )
    report = compare(side(old), side(new))
    a, b = "/$defs/NewSessionRequest/properties/a", "/$defs/NewSessionRequest/properties/b/anyOf/0"
    assert report.notes == (f"Not checked by the bindings: format uuid ({a}), readOnly ({a}), format uuid ({b}).",)
    assert report.findings == ()
    assert report.docs_only == {"v1": 2}
    assert compare(side(new), side(new)).notes == ()
