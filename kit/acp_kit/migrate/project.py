"""What must be known of all files before one is rewritten: the classes that handle one side of a connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst
from libcst import matchers as m

ROLES = {"Agent": "agent", "Client": "client"}
# Methods by which a class is known to be an agent or a client that derives from nothing, since `acp.Agent` and
# `acp.Client` are protocols.
_EVERY = {"Agent": {"initialize", "new_session", "prompt"}, "Client": {"request_permission", "session_update"}}
# The functions that connect an agent or a client, which is their first argument.
_SERVERS = ("run_agent", "connect_to_agent", "spawn_agent_process")


@dataclass(frozen=True)
class Kind:
    """What a value is.

    Attributes:
        role: `agent` or `client`: whose methods it has.
        cls: the handler class of which it is an instance; "" for a connection.
    """

    role: str
    cls: str = ""


@dataclass
class HandlerClass:
    """A class that derives from `acp.Agent` or `acp.Client`.

    Attributes:
        name: its name.
        role: `agent` or `client`.
        bases: the names of its bases.
        methods: the names of the parameters of each method, without `self` and `**kwargs`.
        connects_simply: whether `on_connect` only stores the connection, and `__init__` takes nothing.
        structural: whether it derives from nothing, but has the methods of the protocol.
        stand_in: whether it is used in place of a connection, which methods are called with keywords.
        served: how often an instance is created as an argument of `run_agent` and the like.
    """

    name: str
    role: str
    bases: tuple[str, ...]
    methods: dict[str, tuple[str, ...]]
    connects_simply: bool
    structural: bool = False
    stand_in: bool = False
    served: int = 0


@dataclass
class Project:
    """The handler classes of all files, by name.

    Attributes:
        classes: the classes. A name that other classes also have is not in it.
        created: how often an instance is created anywhere, by the name of the class.
        repeated: the names of classes that several files define.
        attributes: what the attributes of classes are, by the names of class and attribute.
        roots: the names of the folders and files of the project. What is imported from elsewhere is no class of it.
        foreign: for one file, the local names of what it imports from elsewhere.
        files: what was read in each file.
        own: the classes that have nothing to do with the protocol, by the names of their methods.
    """

    classes: dict[str, HandlerClass] = field(default_factory=dict[str, HandlerClass])
    created: dict[str, int] = field(default_factory=dict[str, int])
    repeated: set[str] = field(default_factory=set[str])
    attributes: dict[str, dict[str, Kind]] = field(default_factory=dict[str, dict[str, Kind]])
    roots: Collection[str] = ()
    foreign: Collection[str] = ()
    files: dict[cst.Module, _File] = field(default_factory=dict[cst.Module, "_File"])
    own: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def seen_from(self, module: cst.Module) -> Project:
        """Return the project as a file sees it: of several classes with a name, the file uses its own."""
        one = self.files.get(module) or read_file(module, self.roots)
        own = {each.name for each in one.classes if each.name in self.classes} & self.repeated
        classes = dict(self.classes)
        created = dict(self.created)
        for each in one.classes:
            if each.name in own:
                found = self.classes[each.name]
                classes[each.name] = replace(
                    found,
                    methods=each.methods,
                    connects_simply=each.connects_simply,
                    served=one.served.count(each.name),
                )
                created[each.name] = one.calls.count(each.name)
        return Project(classes, created, self.repeated, self.attributes, self.roots, one.foreign, self.files, self.own)

    def method(self, name: str, method: str) -> tuple[str, ...] | None:
        """Return the parameters of a method of a class or of its bases; None if it has no such method."""
        found = self.classes.get(name)
        if found is None:
            return None
        if method in found.methods:
            return found.methods[method]
        return next((params for base in found.bases if (params := self.method(base, method)) is not None), None)


def read_project(
    modules: Iterable[cst.Module], roots: Collection[str] = (), known: Mapping[cst.Module, _File] | None = None
) -> Project:
    """Find the handler classes in files, also those that derive from another file's.

    Args:
        modules: the files.
        roots: the names of the folders and files of the project.
        known: what was read in files before.
    """
    known = known or {}
    files = {module: known.get(module) or read_file(module, roots) for module in modules}
    found = [*files.values()]
    classes = [each for one in found for each in one.classes]
    project = Project(roots=roots, files=files)
    for one in found:
        for name in one.calls:
            project.created[name] = project.created.get(name, 0) + 1
    roles: Mapping[str, str] = {}
    while True:
        roles = {each.name: role for each in classes if (role := _role(each.bases, roles))}
        fresh = {each.name for each in classes if _role(each.bases, roles)}
        if fresh == set(roles):
            break
    ambiguous = {each.name for each in classes if _role(each.bases, roles) is None}
    for each in classes:
        if each.name in roles and each.name not in ambiguous:
            project.classes[each.name] = HandlerClass(
                each.name,
                roles[each.name],
                each.bases,
                each.methods,
                each.connects_simply and not any(each.name in other.bases for other in classes),
                each.structural,
                served=sum(one.served.count(each.name) for one in found),
            )
    names = [each.name for each in classes]
    project.repeated = {each for each in names if names.count(each) > 1}
    connected = {name for one in found for name in one.connected}  # they take requests, whatever tests do with them
    for one in found:
        for name in one.stand_ins - connected:
            if name in project.classes:
                project.classes[name].stand_in = True
    return project


@dataclass
class _Class:
    name: str
    bases: tuple[str, ...]
    methods: dict[str, tuple[str, ...]]
    connects_simply: bool
    structural: bool


@dataclass
class _File:
    classes: list[_Class]
    calls: list[str]
    stand_ins: set[str]
    served: list[str]
    connected: set[str]
    foreign: set[str]


def _role(bases: Sequence[str], roots: Mapping[str, str]) -> str | None:
    for base in bases:
        if base.startswith("acp:"):
            return ROLES[base.removeprefix("acp:")]
        if base in roots:
            return roots[base]
    return None


def read_file(module: cst.Module, roots: Collection[str]) -> _File:
    """Return what one file tells the others: its classes, and where they are created and connected."""
    acp = _Imports(roots)
    module.visit(acp)
    reader = _Reader(acp)
    module.visit(reader)
    return _File(reader.classes, reader.calls, reader.stand_ins, reader.served, reader.connected, acp.foreign)


class _Imports(cst.CSTVisitor):
    """The local names of `acp.Agent` and `acp.Client`, and of the modules of `acp`."""

    def __init__(self, roots: Collection[str]) -> None:
        self._roots = roots
        self.foreign: set[str] = set()
        self.names: dict[str, str] = {}
        self.modules: set[str] = set()
        self.servers: set[str] = {*_SERVERS}
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
        self.classes: list[_Class] = []
        self.calls: list[str] = []
        self.stand_ins: set[str] = set()
        self.connected: set[str] = set()
        self.served: list[str] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        bases = [self._base(each.value) for each in node.bases]
        methods = {each.name.value: parameters(each) for each in node.body.body if isinstance(each, cst.FunctionDef)}
        structural = [] if node.bases or not self._acp.used else [each for each in _EVERY if _EVERY[each] <= {*methods}]
        found = (*filter(None, bases), *(f"acp:{each}" for each in structural))
        self.classes.append(_Class(node.name.value, found, methods, _connects_simply(node), bool(structural)))

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
        if name in self._acp.servers and node.args:
            given = node.args[0].value
            if isinstance(given, cst.Call):
                self.served.append(dotted(given.func))
            self.connected |= {self._class_of(given), self._class_of(node.args[-1].value)}


def _connects_simply(node: cst.ClassDef) -> bool:
    """Whether `on_connect` only stores the connection, and `__init__`, if there is one, has no parameters."""
    found = {each.name.value: each for each in node.body.body if isinstance(each, cst.FunctionDef)}
    connect, init = found.get("on_connect"), found.get("__init__")
    if connect is None or len(connect.params.params) != 2 or len(node.bases) > 1:
        return False
    if init is not None and (parameters(init) or init.params.star_kwarg or "super" in {*names_in(init)}):
        return False
    if init is not None and m.findall(init, m.Return()):
        return False
    stored = m.SimpleStatementLine(
        [m.Assign([m.AssignTarget(m.Attribute(m.Name("self")))], m.Name(connect.params.params[1].name.value))]
    )
    text = m.SimpleStatementLine([m.Expr(m.SimpleString()) | m.Pass()])
    return all(m.matches(each, stored | text) for each in connect.body.body)


def parameters(node: cst.FunctionDef) -> tuple[str, ...]:
    """Return the names of a method's parameters, without `self`, `*args` and `**kwargs`."""
    params = node.params
    names = [each.name.value for each in (*params.posonly_params, *params.params)][1:]
    return (*names, *(each.name.value for each in params.kwonly_params))


def dotted(node: cst.CSTNode | None) -> str:
    """Return `a.b.c` for a name with attributes; "" for another expression."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        start = dotted(node.value)
        return f"{start}.{node.attr.value}" if start else ""
    return ""


def names_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that occur in a piece of code, keywords and attributes included."""
    for each in m.findall(node, m.Name()):
        yield cst.ensure_type(each, cst.Name).value


def statements(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    """Return the statements of a block, each on a line of its own."""
    return [each if isinstance(each, cst.BaseStatement) else cst.SimpleStatementLine([each]) for each in block.body]
