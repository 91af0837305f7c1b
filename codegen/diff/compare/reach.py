"""Find out which messages contain a definition, and in which direction they go.

The search starts from the params and the result of every method. It also records whether a definition can be reached
on a strict path, one without a property that tolerates invalid values. Only on such a path does an invalid value in
the definition make the whole message invalid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from codegen.diff.verdict.findings import BOTH, NOWHERE, TO_AGENT, TO_CLIENT
from codegen.ir import Definition, Method, Model, Schema

_TO = {"agent": TO_AGENT, "client": TO_CLIENT}
_BACK = {"agent": TO_CLIENT, "client": TO_AGENT}
# The markers of properties whose invalid values don't make the whole message invalid.
LENIENT = {"DefaultOnError", "SkipInvalidItems"}


@dataclass
class Reach:
    """The messages that contain each definition.

    Attributes:
        flows: the directions in which a definition is sent.
        methods: the methods whose messages contain it, in order; "" stands for every message.
        strict: the definitions that are reached on a strict path.
    """

    flows: dict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    methods: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict[str, dict[str, None]](dict))
    strict: set[str] = field(default_factory=set[str])

    def tolerates_invalid(self, name: str) -> bool:
        """Return whether every message that contains the definition stays valid if the definition's value is not."""
        return name in self.flows and name not in self.strict


def combine_flows(flows: set[str]) -> str:
    return BOTH if len(flows) > 1 else next(iter(flows), NOWHERE)


def method_flow(method: Method, *, result: bool) -> str:
    """Return the direction of a method's results, or of its params."""
    return combine_flows({(_BACK if result else _TO)[role] for role in method.handled_by})


def find_reach(schema: Schema) -> Reach:
    """Search from every method, and from the parts that every message has (a request's id, an error).

    It goes depth first. A definition is visited a second time if it is reached on a strict path later.
    """
    reach_of_all = Reach()
    edges = {name: list(_edges(definition)) for name, definition in schema.definitions.items()}
    starts = [
        (name, flow[role], method.wire)
        for method in schema.methods
        for role in method.handled_by
        for name, flow in ((method.params, _TO), (method.result, _BACK))
        if name
    ]
    parts = (field for name in schema.envelopes for model in schema.concrete_models(name) for field in model.fields)
    outside = {name for part in parts if part.wire not in ("params", "result") for name in part.type.names}
    starts += [(name, flow, "") for name in sorted(outside) for flow in (TO_AGENT, TO_CLIENT)]
    for start, flow, method in starts:
        seen: set[tuple[str, bool]] = set()
        stack = [(start, True)]
        while stack:
            name, strict = stack.pop()
            if (name, strict) not in seen:
                seen.add((name, strict))
                reach_of_all.flows[name].add(flow)
                reach_of_all.methods[name][method] = None
                reach_of_all.strict |= {name} if strict else set()
                stack += [(target, strict and is_strict) for target, is_strict in edges.get(name, ())]
    return reach_of_all


def _edges(definition: Definition) -> Iterator[tuple[str, bool]]:
    """Yield the definitions that a definition refers to, and whether an invalid value there makes it invalid too."""
    if not isinstance(definition, Model):
        yield from ((name, True) for name in definition.type.names)
    else:
        yield from [(definition.base, True)] if definition.base else []
        for field in definition.fields:
            is_strict = not LENIENT.intersection(field.markers)
            yield from ((name, is_strict) for name in field.type.names)
