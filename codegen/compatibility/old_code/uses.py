"""The uses of a profile's bindings: what the program does with each definition and each method.

A use is one function of the program. It survives an upgrade or fails independently of the others, because it gets
instances of other definitions as arguments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from codegen.compatibility.old_code.examples import Examples
from codegen.diff.match.shapes import Shape, shape_of
from codegen.ir import Alias, Definition, Field, Method, Model, Schema, Union

ROLES = ("agent", "client")


@dataclass(frozen=True)
class Use:
    """A function of the program.

    Attributes:
        name: its name.
        kind: the macro of the template that writes it, and how it is run.
        of: the definition or method it uses.
        values: what the macro needs.
        parameters: the annotations of its parameters.
        arguments: the expressions to call it with, by parameter; `given("Name")` is a value of that definition.
    """

    name: str
    kind: str
    of: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    arguments: dict[str, str] = field(default_factory=dict[str, str])


class Uses:
    """Lists the uses of a schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._examples = Examples(schema)

    def of_definitions(self) -> Iterator[Use]:
        """Yield the uses of all public definitions."""
        for name, definition in self._schema.definitions.items():
            if name not in self._schema.envelopes:
                yield from self._of_definition(definition)

    def of_role(self, role: str) -> Iterator[Use]:
        """Yield the handlers of a role."""
        for method in self._methods(role):
            yield Use(method.name, "handle", method.wire, {"method": method, "role": role})

    def calls(self, role: str) -> Iterator[Use]:
        """Yield the calls of a role's methods: with all keywords, with the required ones, and with null."""
        for method in self._methods(role):
            for number, fields in enumerate(self._schema.parameter_sets(method), 1):
                name = f"call_{role}_{method.name}_{number}"
                yield from self._variants(name, "call", method.wire, fields, method=method, role=role)

    def values(self) -> dict[str, str]:
        """Return an expression for the value of each definition that isn't a class."""
        return {
            name: self._examples.of_type(shape_of(definition.type.annotation))
            if isinstance(definition, Alias)
            else f'given("{definition.members[0].name}")'
            for name, definition in self._schema.definitions.items()
            if not isinstance(definition, Model)
        }

    def _methods(self, role: str) -> list[Method]:
        return [each for each in self._schema.methods if role in each.handled_by]

    def _of_definition(self, definition: Definition) -> Iterator[Use]:
        name = definition.name
        if isinstance(definition, Model):
            fields = [each for each in self._schema.fields(name) if each.tag is None]
            yield from self._variants(f"build_{name}", "build", name, fields)
            for each in self._schema.fields(name):
                returns = self._annotation(each.hint)
                yield Use(f"read_{name}_{each.name}", "read", name, {"field": each, "returns": returns})
        elif isinstance(definition, Union):
            yield from self._of_union(definition)
        else:
            yield from self._of_alias(definition)

    def _of_union(self, union: Union) -> Iterator[Use]:
        members = [model.name for model in self._schema.concrete_models(union.name)]
        for name in members:
            yield Use(f"put_{name}_in_{union.name}", "put", union.name, {"member": name})
            yield Use(f"find_{name}_in_{union.name}", "find", union.name, {"member": name})
        if not self._is_open(members):
            yield Use(f"match_{union.name}", "match", union.name, {"members": members})

    def _is_open(self, members: list[str]) -> bool:
        fields = [each for name in members for each in self._schema.fields(name)]
        return any(marker.startswith("OtherThan") for each in fields for marker in each.markers)

    def _of_alias(self, alias: Alias) -> Iterator[Use]:
        shape = shape_of(alias.type.annotation)
        values, others = shape.enum() or ((), None)
        for number, value in enumerate(values, 1):
            yield Use(f"make_{alias.name}_{number}", "make", alias.name, {"value": repr(value)})
        if not values:
            yield from self._of_plain_alias(alias, shape)
        elif others is None:
            yield Use(f"choose_{alias.name}", "choose", alias.name, {"choices": list(map(repr, values))})

    def _of_plain_alias(self, alias: Alias, shape: Shape) -> Iterator[Use]:
        example, annotation = self._examples.of_type(shape), alias.type.annotation
        parameters, arguments = self._parameters({"value": (annotation, example)})
        value = "value" if parameters else example
        yield Use(f"make_{alias.name}", "make", alias.name, {"value": value}, parameters, arguments)
        if shape.nullable:
            yield Use(f"make_{alias.name}_null", "make", alias.name, {"value": "None"})
        yield Use(f"take_{alias.name}", "take", alias.name, {"returns": self._annotation(annotation)})

    def _variants(self, name: str, kind: str, of: str, fields: list[Field], **values: Any) -> Iterator[Use]:
        """Yield calls with all fields, with the required ones, and with null where it is allowed."""
        yield self._call(name, kind, of, fields, values)
        required = [each for each in fields if each.required]
        if len(required) < len(fields):
            yield self._call(f"{name}_with_required", kind, of, required, values)
        nullable = {each.name for each in fields if self._examples.is_nullable(each)}
        if nullable:
            yield self._call(f"{name}_with_null", kind, of, fields, values, nullable)

    def _call(
        self, name: str, kind: str, of: str, fields: list[Field], values: dict[str, Any], nulls: Collection[str] = ()
    ) -> Use:
        examples = {
            each.name: (each.type.annotation, "None" if each.name in nulls else self._examples.of_field(each))
            for each in fields
        }
        parameters, arguments = self._parameters(examples)
        keywords = {each: each if each in parameters else example for each, (_, example) in examples.items()}
        return Use(name, kind, of, {**values, "keywords": keywords}, parameters, arguments)

    def _parameters(self, examples: dict[str, tuple[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the parameters for values that need other definitions, and their arguments."""
        needed = {name: each for name, each in examples.items() if "given(" in each[1]}
        annotations = {name: self._annotation(annotation) for name, (annotation, _) in needed.items()}
        return annotations, {name: example for name, (_, example) in needed.items()}

    def _annotation(self, annotation: str) -> str:
        return self._examples.annotation(shape_of(annotation))
