"""Writes a program with all uses of a profile's bindings: a function for each thing that code does with a definition or
a method.
"""

from __future__ import annotations

import ast
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from codegen.ir import Alias, Method, Model, Schema, Union
from codegen.reference.examples import Examples, Object, read_choices, to_json, to_python, write_keywords
from codegen.types import Type

_ROLES = ("agent", "client")
_SCALARS = ("string", "integer", "number", "boolean", "any")
_BINDINGS = "ACP."
_HEAD = """\
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never

from typing_extensions import override

from acp_bindings import {} as ACP
"""


@dataclass(frozen=True)
class Use:
    """A function, in code that imports the profile as `ACP`.

    Attributes:
        name: its name.
        source: its source.
        given: the definitions with whose examples it is called, one after another. Without any, it has no parameter.
        is_run: whether it is called. Calls and handlers of methods would need a peer.
    """

    name: str
    source: str
    given: tuple[str, ...] = ()
    is_run: bool = True


@dataclass(frozen=True)
class Program:
    """Code that is right for one profile of a release.

    Attributes:
        name: the name of its module.
        profile: the profile that it imports.
        source: its source.
        calls: for each use that is run, the definitions with whose examples it is called.
        examples: the JSON of an example of each definition.
    """

    name: str
    profile: str
    source: str
    calls: dict[str, tuple[str, ...]]
    examples: dict[str, str]

    @cached_property
    def uses(self) -> dict[str, ast.stmt]:
        """The function of each use, by its name."""
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        return {each.name: each for each in ast.parse(self.source).body if isinstance(each, functions)}

    def use_at(self, line: int) -> str:
        """Return the use at a line."""
        names = list(self.uses)
        return names[bisect_right(names, line, key=lambda name: self.uses[name].lineno) - 1]


def _use(name: str, returns: str, *lines: str, value: str = "", given: Iterable[str] = ()) -> Use:
    body = "".join(f"    {line}\n" for line in lines)
    return Use(name, f"def {name}({f'value: {value}' if value else ''}) -> {returns}:\n{body}", tuple(given))


class Uses:
    """Lists the uses of a schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.examples = Examples(schema, replace(read_choices(), shown={}))

    def all(self) -> Iterator[Use]:
        """Yield the uses of all public definitions and all methods."""
        for name, definition in self._schema.definitions.items():
            if name in self._schema.envelopes:
                continue
            if isinstance(definition, Model):
                yield from self._of_model(name)
            elif isinstance(definition, Union):
                yield from self._of_union(name)
            else:
                yield from self._of_alias(definition)
        for role in _ROLES:
            methods = [each for each in self._schema.methods if role in each.handled_by]
            for method in methods:
                yield from self._calls(method, role)
                yield self._handler(f"handle_{role}_{method.name}", role, [method], is_required=False)
            baseline = [each for each in methods if each.baseline]
            yield self._handler(f"create_{role}", role, baseline, is_required=True)

    def _of_model(self, name: str) -> Iterator[Use]:
        for suffix, example in self._variants(name):
            yield _use(f"build_{name}{suffix}", _BINDINGS + name, f"return {to_python(example, _BINDINGS)}")
        for each in self._schema.fields(name):
            returns = self._annotation(each.read)
            yield _use(
                f"read_{name}_{each.name}", returns, f"return value.{each.name}", value=_BINDINGS + name, given=[name]
            )

    def _variants(self, name: str) -> Iterator[tuple[str, Object]]:
        """Yield an example of a model with all fields, with the required ones, and with null where it is allowed."""
        example = self.examples.of(name)
        assert isinstance(example, Object)
        yield "", example
        required = tuple(each for each in example.fields if each[0].required)
        if len(required) < len(example.fields):
            yield "_with_required", replace(example, fields=required)
        nulls = tuple((field, None if field.type.nullable else each) for field, each in example.fields)
        if nulls != example.fields:
            yield "_with_null", replace(example, fields=nulls)

    def _of_union(self, name: str) -> Iterator[Use]:
        union, members = _BINDINGS + name, [each.name for each in self._schema.concrete_models(name)]
        for each in members:
            member = _BINDINGS + each
            yield _use(f"put_{each}_in_{name}", union, "return value", value=member, given=[each])
            yield _use(
                f"find_{each}_in_{name}", "None", f"assert isinstance(value, {member})", value=union, given=[each]
            )
        if not any(each.accepts_other_tags for each in self._schema.concrete_models(name)):
            yield _match(f"match_{name}", union, [f"{_BINDINGS}{each}()" for each in members], members)

    def _of_alias(self, alias: Alias) -> Iterator[Use]:
        returns = _BINDINGS + alias.name
        values, others = alias.type.enum or ((), None)
        for number, value in enumerate(values, 1):
            yield _use(f"make_{alias.name}_{number}", returns, f"return {value!r}")
        if values and others is None:
            yield _match(f"choose_{alias.name}", returns, map(repr, values), [alias.name])
        elif not values:
            example = to_python(self.examples.of(alias.name), _BINDINGS)
            yield _use(f"make_{alias.name}", returns, f"return {example}")
            if alias.type.nullable:
                yield _use(f"make_{alias.name}_null", returns, "return None")
            taken = self._annotation(alias.type)
            yield _use(f"take_{alias.name}", taken, "return value", value=returns, given=[alias.name])

    def _calls(self, method: Method, role: str) -> Iterator[Use]:
        result = _BINDINGS + method.result if method.result else "None"
        for number, model in enumerate(self._schema.concrete_models(method.params), 1):
            for suffix, example in self._variants(model.name):
                name = f"call_{role}_{method.name}_{number}{suffix}"
                written = write_keywords(list(example.fields), _BINDINGS)
                head = f"async def {name}(remote: {_BINDINGS}Remote{role.capitalize()}) -> {result}:\n"
                body = f"    {'return ' if method.result else ''}await remote.{method.name}({written})\n"
                yield Use(name, head + body, is_run=False)

    def _handler(self, name: str, role: str, methods: list[Method], *, is_required: bool) -> Use:
        """Return the use that implements methods: all that are required, and creates an instance; or another one."""
        lines = [f"class Handler({_BINDINGS}{role.capitalize()}):", *(["    pass"] * (not methods))]
        for each in methods:
            params, result = _BINDINGS + each.params, _BINDINGS + each.result if each.result else "None"
            lines += ["    @override"] * (not is_required)
            lines.append(f"    async def {each.name}(self, request: {params}, /) -> {result}:")
            lines.append("        raise NotImplementedError")
        lines += ["Handler()"] * is_required
        return replace(_use(name, "None", *lines), is_run=is_required)

    def _annotation(self, type_: Type) -> str:
        """Return a type as user code writes it: aliases of plain scalars, such as `SessionId`, are `str` or `int`."""
        return self._written(type_).parameter

    def _written(self, type_: Type) -> Type:
        found = self._schema.definitions[type_.name] if type_.kind == "ref" else None
        if isinstance(found, Alias) and found.type.kind in _SCALARS:
            return self._written(found.type)
        parts = tuple(map(self._written, type_.parts))
        return replace(type_, name=_BINDINGS + type_.name, format="", parts=parts)


def _match(name: str, value: str, patterns: Iterable[str], given: Iterable[str]) -> Use:
    """Return a use that matches all members of a union, or all values of an enum."""
    cases = [line for each in patterns for line in (f"    case {each}:", "        return")]
    lines = ["match value:", *cases, "    case _:", "        assert_never(value)"]
    return _use(name, "None", *lines, value=value, given=given)


def write_program(name: str, profile: str, schema: Schema) -> Program:
    """Write the program for a profile."""
    made = Uses(schema)
    uses = list(made.all())
    source = "\n\n".join((_HEAD.format(profile), *(each.source for each in uses)))
    calls = {each.name: each.given for each in uses if each.is_run}
    examples = {name: json.dumps(to_json(made.examples.of(name))) for given in calls.values() for name in given}
    return Program(name, profile, source, calls, examples)
