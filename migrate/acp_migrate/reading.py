"""What one file tells the others: its classes, and where they are created and connected."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst import matchers as m

from acp_migrate.syntax import accepts_none, dotted, find, names_in, parameters, simple_statements, visit_only

ROLES = {"Agent": "agent", "Client": "client"}
# Methods by which a class is known to be an agent or a client that derives from nothing, since `acp.Agent` and
# `acp.Client` are protocols.
_EVERY = {"Agent": {"initialize", "new_session", "prompt"}, "Client": {"request_permission", "session_update"}}
# The functions that connect an agent or a client, which is their first argument.
_SERVERS = ("run_agent", "connect_to_agent", "spawn_agent_process")


@dataclass
class ReadClass:
    """A class, with the names that a handler class has.

    Attributes:
        keywords: whether methods of the protocol can be called only with keywords, as those of a connection are.
    """

    name: str
    bases: tuple[str, ...]
    methods: dict[str, tuple[str, ...]]
    connects_simply: bool
    structural: bool
    keywords: bool


@dataclass
class Annotated:
    """What annotations say, by the last part of a name.

    Attributes:
        models: the functions that return a model.
        nones: the functions that may return None.
        optional: the attributes of classes that may be None.
        connections: for functions and classes, their parameters that are connections.
        given: the functions and classes that are called, the parameters, and the classes of what they get.
    """

    models: set[str] = field(default_factory=set[str])
    nones: set[str] = field(default_factory=set[str])
    optional: set[str] = field(default_factory=set[str])
    connections: dict[str, list[str | int]] = field(default_factory=dict[str, list[str | int]])
    given: list[tuple[str, str | int, str]] = field(default_factory=list[tuple[str, str | int, str]])

    def add(self, other: Annotated) -> None:
        """Add what the annotations of another file say."""
        self.models |= other.models
        self.nones |= other.nones
        self.optional |= other.optional
        self.connections |= other.connections
        self.given += other.given

    def stand_ins(self) -> set[str]:
        """Return the classes of which instances are given in place of a connection."""
        return {cls for called, name, cls in self.given if name in self.connections.get(called, ())}


@dataclass
class ReadFile:
    """What was read in a file.

    Attributes:
        classes: its classes.
        calls: the names of what it calls.
        stand_ins: the classes of what it passes to `on_connect`.
        served: the names of what it creates as an argument of `run_agent` and the like.
        connected: the classes of what it passes there, and whether as an `Agent` or a `Client`.
        casts: the classes of what it casts to an `Agent` or a `Client`, and to which.
        foreign: the local names of what it imports from elsewhere.
        annotated: what its annotations say.
    """

    classes: list[ReadClass]
    calls: list[str]
    stand_ins: set[str]
    served: list[str]
    connected: dict[str, str]
    casts: dict[str, str]
    foreign: set[str]
    annotated: Annotated


def read_file(module: cst.Module, roots: Collection[str]) -> ReadFile:
    """Return what one file tells the others: its classes, and where they are created and connected."""
    acp = _Imports(roots)
    visit_only(module, acp)
    reader = _Reader(acp)
    visit_only(module, reader)
    return ReadFile(
        reader.classes,
        reader.calls,
        reader.stand_ins,
        reader.served,
        reader.connected,
        reader.casts,
        acp.foreign,
        reader.annotated,
    )


class _Imports(cst.CSTVisitor):
    """The local names of `acp.Agent` and `acp.Client`, and of the modules of `acp`."""

    def __init__(self, roots: Collection[str]) -> None:
        self._roots = roots
        self.foreign: set[str] = set()
        self.names: dict[str, str] = {}
        self.modules: set[str] = set()
        self.servers: set[str] = {*_SERVERS}
        self.models: set[str] = set()
        self.used = False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        if node.module is None or node.relative or isinstance(node.names, cst.ImportStar):
            return
        root = dotted(node.module).partition(".")[0]
        if root != "acp" and root not in self._roots:
            self.foreign |= {each.evaluated_alias or each.evaluated_name for each in node.names}
        if root != "acp" or "experimental" in dotted(node.module):
            return
        self.used = True
        for each in node.names:
            local = each.evaluated_alias or each.evaluated_name
            if each.evaluated_name in ROLES:
                self.names[local] = each.evaluated_name
            elif each.evaluated_name in _SERVERS:
                self.servers.add(local)
            elif each.evaluated_name in ("interfaces", "core"):
                self.modules.add(local)
            elif each.evaluated_name[0].isupper():
                self.models.add(local)

    def visit_Import(self, node: cst.Import) -> None:
        for each in node.names:
            root = each.evaluated_name.partition(".")[0]
            if root == "acp" and "experimental" not in each.evaluated_name:
                self.used = True
                self.modules.add(each.evaluated_alias or "acp")
            elif root not in self._roots:
                self.foreign.add(each.evaluated_alias or root)


class _Reader(cst.CSTVisitor):
    def __init__(self, acp: _Imports) -> None:
        self._acp = acp
        self._made: dict[str, str] = {}
        self.classes: list[ReadClass] = []
        self.calls: list[str] = []
        self.stand_ins: set[str] = set()
        self.connected: dict[str, str] = {}
        self.casts: dict[str, str] = {}
        self._params: dict[str, str] = {}
        self.served: list[str] = []
        self.annotated = Annotated()
        self._class = ""

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        name, returns = node.name.value, node.returns.annotation if node.returns else None
        if returns is not None and {*names_in(returns)} & self._acp.models:
            self.annotated.models.add(name)
        if _may_give_none(node):
            self.annotated.nones.add(name)
        every = [*node.params.params, *node.params.kwonly_params]
        self._params = {each.name.value: dotted(each.annotation.annotation) for each in every if each.annotation}
        if {*names_in(node.body)} & self._acp.servers:
            return
        params = every[bool(self._class) :]
        called = self._class if name == "__init__" else name
        self._takes(called, [(each.name.value, each.annotation) for each in params])

    def _takes(self, called: str, params: Sequence[tuple[str, cst.Annotation | None]]) -> None:
        roles = {*self._acp.names}
        for position, (name, annotation) in enumerate(params):
            if annotation is not None and {*names_in(annotation)} & roles:
                self.annotated.connections.setdefault(called, []).extend([name, position])

    def leave_ClassDef(self, original_node: cst.ClassDef) -> None:
        self._class = ""

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._class = node.name.value
        fields = [each for each in simple_statements(node.body) if isinstance(each, cst.AnnAssign)]
        self._takes(node.name.value, [(dotted(each.target), each.annotation) for each in fields])
        self.annotated.optional |= {dotted(each.target) for each in fields if accepts_none(each.annotation.annotation)}
        bases = [self._base(each.value) for each in node.bases]
        methods = {each.name.value: parameters(each) for each in node.body.body if isinstance(each, cst.FunctionDef)}
        structural = [] if node.bases or not self._acp.used else [each for each in _EVERY if _EVERY[each] <= {*methods}]
        found = (*filter(None, bases), *(f"acp:{each}" for each in structural))
        keywords = any(_takes_keywords(each) for each in node.body.body)
        self.classes.append(
            ReadClass(node.name.value, found, methods, _connects_simply(node), bool(structural), keywords)
        )

    def _base(self, node: cst.BaseExpression) -> str:
        name = dotted(node)
        first, _, last = name.rpartition(".")
        if not first and last in self._acp.names:
            return f"acp:{self._acp.names[last]}"
        if last in ROLES and first.partition(".")[0] in self._acp.modules and "experimental" not in first:
            return f"acp:{last}"
        return "" if name.partition(".")[0] in self._acp.foreign else last

    def _class_of(self, given: cst.BaseExpression) -> str:
        """Return the class of an instance that is made there or was assigned to a name; "" if it isn't known."""
        given = given.body if isinstance(given, cst.Lambda) else given
        if isinstance(given, cst.Call) and dotted(given.func).rpartition(".")[2] == "cast" and len(given.args) == 2:
            given = given.args[1].value
        made = dotted(given.func) if isinstance(given, cst.Call) else self._made.get(dotted(given), "")
        return made.rpartition(".")[2]

    def visit_Assign(self, node: cst.Assign) -> None:
        if isinstance(node.value, cst.Call) and isinstance(node.targets[0].target, cst.Name):
            self._made[node.targets[0].target.value] = dotted(node.value.func).rpartition(".")[2]

    def visit_Call(self, node: cst.Call) -> None:
        name = dotted(node.func).rpartition(".")[2]
        if name == "on_connect" and len(node.args) == 1:
            self.stand_ins.add(self._class_of(node.args[0].value))
        elif name and dotted(node.func).partition(".")[0] not in self._acp.foreign:
            self.calls.append(name)
        role = self._acp.names.get(dotted(node.args[0].value)) if name == "cast" and len(node.args) == 2 else None
        if role is not None:
            given = node.args[1].value
            self.casts[self._class_of(given) or self._params.get(dotted(given), "")] = role
        for position, each in enumerate(node.args if name else ()):
            if cls := self._class_of(each.value):
                self.annotated.given.append((name, each.keyword.value if each.keyword else position, cls))
        if name in self._acp.servers and node.args:
            given = node.args[0].value
            if isinstance(given, cst.Call):
                self.served.append(dotted(given.func))
            role = "Agent" if name == "run_agent" else "Client"
            self.connected |= {self._class_of(given): role, self._class_of(node.args[-1].value): role}


def _may_give_none(node: cst.FunctionDef) -> bool:
    """Whether a function gives None in some case: by its annotation, or by its `return None` if that says nothing."""
    if node.returns is not None and dotted(node.returns.annotation).rpartition(".")[2] != "Any":
        return accepts_none(node.returns.annotation) and not m.matches(node.returns.annotation, m.Name("None"))
    return any(m.matches(each, m.Return(m.Name("None"))) for each in simple_statements(node.body))


def _takes_keywords(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.FunctionDef) or not any(node.name.value in names for names in _EVERY.values()):
        return False
    return len(node.params.params) == 1 and bool(node.params.kwonly_params or node.params.star_kwarg)


def _connects_simply(node: cst.ClassDef) -> bool:
    """Whether `on_connect` only stores the connection, and `__init__`, if there is one, has no parameters."""
    found = {each.name.value: each for each in node.body.body if isinstance(each, cst.FunctionDef)}
    connect, init = found.get("on_connect"), found.get("__init__")
    if connect is None or len(connect.params.params) != 2 or len(node.bases) > 1:
        return False
    if init is not None and (parameters(init) or init.params.star_kwarg or "super" in {*names_in(init)}):
        return False
    if init is not None and find(init, cst.Return):
        return False
    stored = m.SimpleStatementLine(
        [m.Assign([m.AssignTarget(m.Attribute(m.Name("self")))], m.Name(connect.params.params[1].name.value))]
    )
    text = m.SimpleStatementLine([m.Expr(m.SimpleString()) | m.Pass()])
    return all(m.matches(each, stored | text) for each in connect.body.body)
