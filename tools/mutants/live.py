"""Puts a change into the functions of a running process, by assigning to their `__code__`."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

from tools.mutants.changes import Change
from tools.paths import ROOT

# The functions of a process, by file, qualified name and first line.
Functions = dict[tuple[str, str, int], list[FunctionType]]
# Functions, each with its new code.
ChangedCode = Sequence[tuple[FunctionType, CodeType]]
# Folders with packages; the others are packages.
_IMPORT_ROOTS = ("generated", "kit", "runtime")
_IS_FUNCTION = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS


class ChangesImportError(Exception):
    """The change is in code that runs at import, or changes which variables of an outer function are used."""


def find_functions(files: set[str]) -> Functions:
    """Import some files, and return their functions."""
    for file in sorted(files):
        root, *parts = Path(file).with_suffix("").parts
        import_module(".".join(parts if root in _IMPORT_ROOTS else [root, *parts]).removesuffix(".__init__"))
    paths = {str(ROOT / file) for file in files}
    functions: Functions = {}
    gc.unfreeze()  # what is frozen isn't listed
    for value in gc.get_objects():
        if type(value) is FunctionType and value.__code__.co_filename in paths:
            functions.setdefault(_key(value.__code__), []).append(value)
    gc.freeze()
    return functions


def needs_import(change: Change) -> bool:
    """Return whether no function of a running process can get the change."""
    old, new = _compile_unchanged(change.file, change.read_source()), _compile(change.file, change.apply())
    try:
        return any(before.co_freevars != after.co_freevars for before, after in _find_changed_functions(old, new))
    except ChangesImportError:
        return True


def compile_change(change: Change, functions: Functions) -> ChangedCode:
    """Return each changed function with its new `__code__`.

    Raises:
        ChangesImportError: the process has to import the changed file instead.
    """
    old, new = _compile_unchanged(change.file, change.read_source()), _compile(change.file, change.apply())
    changed: list[tuple[FunctionType, CodeType]] = []
    for before, after in _find_changed_functions(old, new):
        for function in functions.get(_key(before), []):
            if before.co_freevars != after.co_freevars:
                raise ChangesImportError
            changed.append((function, after))
    if not changed:
        raise ChangesImportError
    return changed


def _compile(file: str, source: str) -> CodeType:
    return compile(source, str(ROOT / file), "exec", dont_inherit=True)


_compile_unchanged = cache(_compile)


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _find_changed_functions(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the old and new code of changed functions, and of the functions inside them, which Python makes anew."""
    if old == new:
        return
    old_inside, new_inside = _find_inner_code(old), _find_inner_code(new)
    inside = list(zip(old_inside, new_inside, strict=False))
    if old.co_flags & _IS_FUNCTION == _IS_FUNCTION:
        yield old, new
        if [code.co_qualname for code in old_inside] == [code.co_qualname for code in new_inside]:
            for pair in inside:
                yield from _find_changed_functions(*pair)
    elif _describe_own_code(old) != _describe_own_code(new) or len(old_inside) != len(new_inside):
        raise ChangesImportError
    else:
        for pair in inside:
            yield from _find_changed_functions(*pair)


def _find_inner_code(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _describe_own_code(code: CodeType) -> tuple[bytes, tuple[str, ...], list[object]]:
    """Return the instructions and the constants of a code object, without the code inside it.

    And without tuples: since Python 3.13, a class has one with the attributes that its methods assign.
    """
    constants = [constant for constant in code.co_consts if not isinstance(constant, (CodeType, tuple))]
    return code.co_code, code.co_names, constants
