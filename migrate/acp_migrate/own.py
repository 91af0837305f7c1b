"""Classes of a project that have nothing to do with the protocol, though their methods have names of the protocol's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from acp_migrate.files import File

# Names of classes that stand for a connection or one of its sides, such as FakeClient.
_STANDS_IN = re.compile(r"Fake|Mock|Stub|Dummy|Conn|Client|Agent")
_CLASS = re.compile(rb"^(?:class (\w+)|    (?:async )?def (\w+)\()", re.MULTILINE)

_FIELD = re.compile(rb"^    (\w+): .*[^,\n]$|\bself\.(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)


def stands_in(name: str) -> bool:
    """Return whether the name of a class says that it may be used in place of a connection."""
    return _STANDS_IN.search(name) is not None


def own_methods(files: Iterable[File], methods: Collection[str]) -> dict[str, set[str]]:
    """Return which classes define methods with some names, without those that may stand for a connection.

    Files are only searched as text, because most of them have nothing to do with `acp` and parsing takes long.

    Args:
        files: all files of a project.
        methods: the names.
    """
    found: dict[str, set[str]] = {}
    for file in files:
        if not file.mentions(methods):
            continue
        cls = ""
        for match in _CLASS.finditer(file.content):
            if match[1]:
                cls = match[1].decode()
            elif (name := match[2].decode()) in methods and cls and not stands_in(cls):
                found.setdefault(name, set()).add(cls)
    return found


def own_fields(files: Iterable[File]) -> set[str]:
    """Return the attributes that the classes of a project have, as far as their text shows."""
    return {(match[1] or match[2]).decode() for file in files for match in _FIELD.finditer(file.content)}


def is_own(classes: Collection[str], receiver: str, cls: str) -> bool:
    """Return whether an object is likely an instance of classes, by its name: `self._session_store` of SessionStore.

    Args:
        classes: the names of the classes.
        receiver: the expression, such as `self._session_store`.
        cls: the class in which this stands.
    """
    if receiver == "self":
        return cls in classes
    last = receiver.rpartition(".")[2].lower().replace("_", "")
    words = [re.findall(r"[A-Z]+[a-z0-9]*", each) for each in classes]
    return bool(last) and any(each and last.endswith(each[-1].lower()) for each in words)
