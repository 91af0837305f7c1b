"""What must be known of all files before one is rewritten: the classes that handle one side of a connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from acp_migrate.exports import Exports
from acp_migrate.reading import ROLES, Annotated, ReadFile


@dataclass(frozen=True)
class Kind:
    """What a value is.

    Attributes:
        role: `agent` or `client`: whose methods it has.
        cls: the handler class of which it is an instance; "" for a connection.
        depth: in how many containers or context managers it is.
    """

    role: str
    cls: str = ""
    depth: int = 0


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
        connected: whether an instance is passed there.
    """

    name: str
    role: str
    bases: tuple[str, ...]
    methods: dict[str, tuple[str, ...]]
    connects_simply: bool
    structural: bool = False
    stand_in: bool = False
    served: int = 0
    connected: bool = False


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
        fields: the attributes that the project's own classes have.
        annotated: what the annotations of all files say.
        exports: what files take from each other.
        provided: for one file, the names that it has from `acp` through other files.
    """

    classes: dict[str, HandlerClass] = field(default_factory=dict[str, HandlerClass])
    created: dict[str, int] = field(default_factory=dict[str, int])
    repeated: set[str] = field(default_factory=set[str])
    attributes: dict[str, dict[str, Kind]] = field(default_factory=dict[str, dict[str, Kind]])
    roots: Collection[str] = ()
    foreign: Collection[str] = ()
    files: Mapping[cst.Module, ReadFile] = field(default_factory=dict[cst.Module, ReadFile])
    own: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    fields: set[str] = field(default_factory=set[str])
    annotated: Annotated = field(default_factory=Annotated)
    exports: Exports = field(default_factory=Exports)
    provided: Mapping[str, str] = field(default_factory=dict[str, str])

    def seen_from(self, module: cst.Module) -> Project:
        """Return the project as a file sees it: of several classes with a name, the file uses its own."""
        one = self.files[module]
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
        provided = self.exports.own.get(id(module), {})
        return replace(self, classes=classes, created=created, foreign=one.foreign, provided=provided)

    def method(self, name: str, method: str) -> tuple[str, ...] | None:
        """Return the parameters of a method of a class or of its bases; None if it has no such method."""
        found = self.classes.get(name)
        if found is None:
            return None
        if method in found.methods:
            return found.methods[method]
        return next((params for base in found.bases if (params := self.method(base, method)) is not None), None)


def read_project(files: Mapping[cst.Module, ReadFile], exports: Exports, roots: Collection[str]) -> Project:
    """Find the handler classes in files, also those that derive from another file's.

    Args:
        files: what was read in the files.
        exports: what they take from each other.
        roots: the names of the folders and files of the project.
    """
    found = [*files.values()]
    classes = [each for one in found for each in one.classes]
    project = Project(roots=roots, files=files, exports=exports)
    for one in found:
        for name in one.calls:
            project.created[name] = project.created.get(name, 0) + 1
    for module, one in files.items():
        provided = exports.own.get(id(module), {})
        for each in one.classes:
            old = [provided.get(base, "").rpartition(".")[2] for base in each.bases]
            each.bases = tuple(
                f"acp:{role}" if role in ROLES else base for base, role in zip(each.bases, old, strict=True)
            )
            cast = "" if "on_connect" in each.methods else one.casts.get(each.name, "")
            if not each.bases and (role := one.connected.get(each.name, cast)):
                each.bases, each.structural = (f"acp:{role}",), True
                one.stand_ins |= {each.name} if cast else set()  # what is connected is no stand-in
    roles = _roles(found)
    without = {each.name for each in classes if id(each) not in roles}
    for each in classes:
        if each.name not in without:
            project.classes[each.name] = HandlerClass(
                each.name,
                roles[id(each)],
                each.bases,
                each.methods,
                each.connects_simply and not any(each.name in other.bases for other in classes),
                each.structural,
                served=sum(one.served.count(each.name) for one in found),
                connected=any(each.name in one.connected for one in found),
            )
    names = [each.name for each in classes]
    project.repeated = {each for each in names if names.count(each) > 1}
    connected = {name for one in found for name in one.connected}  # they take requests, whatever tests do with them
    for one in found:
        project.annotated.add(one.annotated)
    typed = project.annotated.stand_ins()
    for one in found:
        guessed = {each.name for each in one.classes if each.structural and each.keywords}
        for name in (one.stand_ins | guessed | typed) - connected:
            if name in project.classes:
                project.classes[name].stand_in = True
    for cls in project.classes.values():  # a base stands before the classes that derive from it
        cls.stand_in |= cls.name not in connected and any(
            base in project.classes and project.classes[base].stand_in for base in cls.bases
        )
    return project


def _roles(files: Iterable[ReadFile]) -> dict[int, str]:
    """Return the roles of handler classes, by id. A base is the class of the same file, if there is one."""
    roles: dict[int, str] = {}
    by_name: dict[str, str] = {}
    known = -1
    while len(roles) > known:
        known = len(roles)
        for one in files:
            own = {each.name: roles.get(id(each), "") for each in one.classes}
            for each in one.classes:
                if role := _role(each.bases, {**by_name, **own}):
                    roles[id(each)] = by_name[each.name] = role
    return roles


def _role(bases: Sequence[str], roles: Mapping[str, str]) -> str:
    for base in bases:
        if base.startswith("acp:"):
            return ROLES[base.removeprefix("acp:")]
        if roles.get(base):
            return roles[base]
    return ""
