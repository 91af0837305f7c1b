"""Finds the messages that contain each definition, and the direction in which they are sent.

The search starts from the params and the result of every method. It also finds the definitions that are reached on a
strict path: a path without a property that tolerates invalid values. Only there does an invalid value make the whole
message invalid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from codegen.diff.verdict.findings import BOTH, NOWHERE, TO_AGENT, TO_CLIENT
from codegen.ir import Alias, Definition, Method, Model, Schema

_TO = {"agent": TO_AGENT, "client": TO_CLIENT}
_BACK = {"agent": TO_CLIENT, "client": TO_AGENT}
# The markers of properties whose invalid values don't make the whole message invalid.
LENIENT = {"DefaultOnError", "SkipInvalidItems"}


@dataclass
class Reach:
    """The messages that contain each definition.

    Attributes:
        flows: the directions in which a definition is sent.
        methods: the methods whose messages contain a definition, in order; "" stands for every message.
        strict: the definitions that are reached on a strict path.
    """

    flows: dict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    methods: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict[str, dict[str, None]](dict))
    strict: set[str] = field(default_factory=set[str])

    def tolerates_invalid(self, name: str) -> bool:
        """Return whether all messages with a definition stay valid if the definition's value is invalid."""
        return name in self.flows and name not in self.strict


def combine_flows(flows: set[str]) -> str:
    return BOTH if len(flows) > 1 else next(iter(flows), NOWHERE)


def method_flow(method: Method, *, result: bool) -> str:
    """Return the direction of a method's results or params."""
    return combine_flows({(_BACK if result else _TO)[role] for role in method.handled_by})


def find_reach(schema: Schema) -> Reach:
    """Search from every method, and from the parts of every message (a request's id, an error).

    The search is depth first. It visits a definition again if it reaches it on a strict path later.
    """
    reach = Reach()
    edges = {name: list(_find_edges(definition)) for name, definition in schema.definitions.items()}
    starts = [
        (name, flow[role], method.wire)
        for method in schema.methods
        for role in method.handled_by
        for name, flow in ((method.params, _TO), (method.result, _BACK))
        if name
    ]
    fields = (field for name in schema.envelopes for model in schema.concrete_models(name) for field in model.fields)
    in_every_message = {name for field in fields if field.wire not in ("params", "result") for name in field.type.names}
    starts += [(name, flow, "") for name in sorted(in_every_message) for flow in (TO_AGENT, TO_CLIENT)]
    for start, flow, method in starts:
        seen: set[tuple[str, bool]] = set()
        stack = [(start, True)]
        while stack:
            name, strict = stack.pop()
            if (name, strict) not in seen:
                seen.add((name, strict))
                reach.flows[name].add(flow)
                reach.methods[name][method] = None
                if strict:
                    reach.strict.add(name)
                stack += [(target, strict and is_strict) for target, is_strict in edges.get(name, ())]
    return reach


def _find_edges(definition: Definition) -> Iterator[tuple[str, bool]]:
    """Yield the definitions that a definition refers to, and whether an invalid value of theirs makes it invalid."""
    if not isinstance(definition, Alias) and definition.base:
        yield definition.base, True
    if not isinstance(definition, Model):
        yield from ((name, True) for name in definition.type.names)
    else:
        for field in definition.fields:
            is_strict = not LENIENT.intersection(field.markers)
            yield from ((name, is_strict) for name in field.type.names)
