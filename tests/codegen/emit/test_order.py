"""Each class comes after what its annotations name. Definitions that contain themselves work, too."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest
from pydantic import ValidationError

from codegen.errors import SchemaError
from tests.support.codegen.build import STRING, Schema, array, model, ref, tagged
from tests.support.codegen.generating import Generate

TREES = {
    "Forest": model(["trees"], trees=array(ref("Tree"))),
    "Tree": {"anyOf": [tagged("kind", "leaf", "Leaf"), tagged("kind", "branch", "Branch")]},
    "Leaf": model(["name"], name=STRING),
    "Branch": model(["trees"], trees=array(ref("Tree")), owner=ref("Owner")),
    "Owner": model(["id"], id=ref("OwnerId"), branches=array(ref("Branch"))),
    "OwnerId": STRING,
}


@pytest.fixture(scope="module")
def package(generate_once: Generate) -> ModuleType:
    return generate_once(TREES)


def test_a_definition_that_contains_itself_keeps_its_values_at_any_depth(package: ModuleType) -> None:
    branch = '{"kind":"branch","trees":[{"kind":"branch","trees":[{"kind":"leaf","name":"a"}]}]}'
    forest = package.Forest.model_validate_json(f'{{"trees":[{branch}]}}')
    assert type(forest.trees[0].trees[0].trees[0]) is package.TreeLeaf
    assert package.Forest.model_validate_json(forest.model_dump_json()) == forest
    assert package.TreeBranch(trees=[package.TreeLeaf(name="a")], owner=package.Owner(id="1")).owner.id == "1"
    with pytest.raises(ValidationError):
        package.Forest.model_validate_json('{"trees":[{"kind":"branch","trees":[{"kind":"branch"}]}]}')


def test_the_fields_of_such_a_definition_have_their_types_before_it_is_used(package: ModuleType) -> None:
    for name in ("Branch", "TreeBranch"):
        assert getattr(package, name).model_fields["trees"].annotation == list[package.Tree]
    assert package.Owner.model_fields["branches"].annotation == list[package.Branch]


def test_only_annotations_that_lead_back_to_their_class_are_strings(package: ModuleType) -> None:
    assert 'trees: "list[Tree]"' in inspect.getsource(package.Branch)
    assert 'branches: "list[Branch]"' in inspect.getsource(package.Owner)
    assert "trees: list[Tree]" in inspect.getsource(package.Forest)
    assert "id: OwnerId" in inspect.getsource(package.Owner)


def test_classes_keep_the_order_of_the_schema_except_after_classes_that_they_name(generate: Generate) -> None:
    package = generate(
        {"Late": model(first=ref("First"), second=ref("Second")), "Second": model(), "Third": model(), "First": model()}
    )
    lines = {name: inspect.getsourcelines(getattr(package, name))[1] for name in ("First", "Second", "Late", "Third")}
    assert sorted(lines, key=lambda name: lines[name]) == ["First", "Second", "Late", "Third"]


def test_a_property_that_hides_a_name_in_such_annotations_is_refused(generate: Generate) -> None:
    with pytest.raises(SchemaError) as error:
        generate({"Tree": model(list=array(ref("Tree")))})
    assert "v1/schema.json#/$defs/Tree: There is no rule for the property `list`" in str(error.value)


def test_modules_import_the_names_in_quoted_annotations(generate: Generate) -> None:
    package = generate(
        {
            "Role": STRING,  # of another topic
            "HiddenList": model(list=array(ref("Role"))),
            "LimitedList": model(roles=array(ref("Role"), minItems=1)),
            "Recursive": model(parts=array({"anyOf": [ref("Recursive"), ref("Role")]})),
        }
    )
    assert package.HiddenList(list=["a"]).list == ["a"]
    assert package.LimitedList(roles=["a"]).roles == ["a"]
    assert package.Recursive(parts=["a", package.Recursive(parts=["b"])]).parts[1].parts == ["b"]


LEADING_BACK: list[Schema] = [
    {"A": array(ref("A"))},
    {"A": array(ref("B")), "B": array(ref("A"))},
    {"A": {"anyOf": [array(ref("A")), {**STRING, "title": "x"}]}},
    {"A": {"anyOf": [{"type": "null"}, array(ref("A")), {"type": "object", "additionalProperties": ref("A")}]}},
]


@pytest.mark.parametrize("definitions", LEADING_BACK)
def test_an_alias_that_leads_back_through_an_array_accepts_any_json(generate: Generate, definitions: Schema) -> None:
    package = generate({**definitions, "Holder": model(["a"], a=ref("A"))})
    assert package.Holder.model_validate_json('{"a":[[[]]]}').model_dump_json() == '{"a":[[[]]]}'
