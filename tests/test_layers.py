"""Packages and folders import only from lower ones, and there are no circular imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tools.paths import ROOT

_PACKAGES = {
    "acp_runtime": ROOT / "runtime" / "acp_runtime",
    "acp_bindings": ROOT / "generated" / "acp_bindings",
    "acp_kit": ROOT / "kit" / "acp_kit",
    "codegen": ROOT / "codegen",
    "tools": ROOT / "tools",
    "benchmarks": ROOT / "benchmarks",
}

# Imported by nothing that a user installs, nor by codegen.
_AROUND = {"benchmarks", "tests", "tools"}

# The folders and files of a package or folder. A module may import from its own line and from those above it.
_LAYERS = {
    "acp_runtime": (
        {"commands", "escaping", "errors", "forks", "logs", "processes", "updates", "windows_jobs"},
        {"models"},
        {"stubs"},
        {"jsonrpc"},
        {"options", "shielded_waits"},
        {"connection"},
        {"transports"},
        {"connect", "plain_json"},
        {"versions"},
        {"offers"},
    ),
    "acp_runtime.connection": (
        {"ids", "interfaces", "lifecycle", "limits", "login_methods", "on_frame", "places"},
        {"in_flight", "reader", "state"},
        {"session", "writer"},
        {"batch"},
        {"call", "request"},
        {"turns"},
        {"calls"},
        {"dispatch"},
        {"connection"},
        {"closing"},
    ),
    "codegen": (
        {"chosen_names", "errors", "escaping", "facts", "ir", "names", "nodes", "toml", "types", "values"},
        {"files"},
        {"pinned"},
        {"read"},
        {"data"},
        {"emit"},
        {"regen"},
        {"diff"},
        {"reference"},
        {"diff_command", "upgrade"},
        {"__main__"},
    ),
    "codegen.diff": (
        {"git", "match"},
        {"sources"},
        {"verdict"},
        {"compare"},
        {"report"},
        {"render", "user_code"},
    ),
    "acp_kit": (
        {"common", "recording"},
        {"frame_log", "telemetry", "threads"},
        {"content", "official", "registry", "updates"},
        {"local"},
        {"agent"},
        {"client", "history", "v2", "versions"},
        {"remote", "sync", "tap", "testing"},
        {"asking", "checking"},
        {"__main__"},
    ),
}


@cache
def _modules(package: str) -> dict[str, Path]:
    folder = _PACKAGES[package]
    return {_name(package, folder, file): file for file in folder.rglob("*.py")}


def _name(package: str, folder: Path, file: Path) -> str:
    steps = file.relative_to(folder).with_suffix("").parts
    return ".".join((package, *steps)).removesuffix(".__init__")


@cache
def _statements(file: Path) -> list[tuple[str | None, list[str]]]:
    """The imports in a file, on any line: the module after `from`, if there is one, and the imported names."""
    found: list[tuple[str | None, list[str]]] = []
    for node in _nested(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.append((None, [alias.name for alias in node.names]))
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.append((node.module, [alias.name for alias in node.names]))
    return found


def _nested(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a node, at any depth, without their expressions."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from _nested(child)


def _imports(file: Path, known: dict[str, Path]) -> set[str]:
    """The modules that a file imports, on any line."""
    found: set[str] = set()
    for module, names in _statements(file):
        if module is None:
            found.update(names)
        else:
            members = {f"{module}.{name}" for name in names}
            found |= {name if name in known else module for name in members}
    return found


@cache
def _graph(package: str) -> dict[str, set[str]]:
    known = _modules(package)
    return {name: _imports(file, known) & known.keys() - {name} for name, file in known.items()}


def _layer(place: str, module: str) -> int:
    name = module.removeprefix(f"{place}.").split(".")[0]
    return next(number for number, layer in enumerate(_LAYERS[place]) if name in layer)


@pytest.mark.parametrize(
    ("package", "above"),
    [
        ("acp_runtime", {"acp_bindings", "acp_kit", "codegen", *_AROUND}),
        ("acp_bindings", {"acp_kit", "codegen", *_AROUND}),
        ("acp_kit", {"codegen", *_AROUND}),
        ("codegen", {"acp_bindings", "acp_kit", *_AROUND}),
        ("benchmarks", {"tests"}),
    ],
)
def test_a_package_does_not_import_higher_packages(package: str, above: set[str]) -> None:
    imported = {name for file in _modules(package).values() for name in _imports(file, {})}
    assert not above & {name.split(".")[0] for name in imported}


def test_tools_import_nothing_of_the_tests_but_their_record_of_interop() -> None:
    wrong = [
        f"{tool} imports {name}"
        for tool, file in _modules("tools").items()
        for name in _imports(file, {})
        if name.split(".")[0] in {"benchmarks", "tests"} and not name.startswith("tests.interop.")
    ]
    assert not wrong


@pytest.mark.parametrize("place", _LAYERS)
def test_folders_import_only_from_lower_folders(place: str) -> None:
    graph = _graph(place.split(".", maxsplit=1)[0])
    inside = {name for name in graph if name.startswith(f"{place}.")}
    wrong = [
        f"{name} imports {other}"
        for name in inside
        for other in graph[name]
        if other == place or (other in inside and _layer(place, other) > _layer(place, name))
    ]
    assert not wrong


def test_the_kit_uses_only_public_modules_of_the_runtime() -> None:
    # The files at the top, and what `transports` and `jsonrpc` export.
    public = {name for name in _modules("acp_runtime") if name.count(".") == 1 and not _is_folder(name)}
    public |= {"acp_runtime", "acp_runtime.jsonrpc", "acp_runtime.transports"}
    known = {name: file for name, file in _modules("acp_runtime").items() if name not in public}
    wrong = [
        f"{name} imports {each}"
        for name, file in _modules("acp_kit").items()
        for each in _imports(file, known)
        if each.startswith("acp_runtime.") and each not in public
    ]
    assert not wrong


def _is_folder(name: str) -> bool:
    return _modules("acp_runtime")[name].name == "__init__.py"


@pytest.mark.parametrize("package", _PACKAGES)
def test_there_are_no_circular_imports(package: str) -> None:
    try:
        TopologicalSorter(_graph(package)).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_test_files_do_not_import_each_other() -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in (ROOT / "tests").rglob("*.py")
        for name in _imports(file, {})
        if name.startswith("tests.") and not _may_be_imported(name, file)
    ]
    assert not wrong


def _may_be_imported(name: str, by: Path) -> bool:
    """Helpers in tests/support/ may be imported anywhere, and others from the folder they are in."""
    folder = ".".join(by.relative_to(ROOT).parent.parts)
    return f"{name}.".startswith(("tests.support.", f"{folder}.")) and ".test_" not in name


@pytest.mark.parametrize(("tests", "package"), [("runtime", "acp_runtime"), ("codegen", "codegen"), ("kit", "acp_kit")])
def test_the_folders_of_tests_have_the_names_of_the_tested_folders(tests: str, package: str) -> None:
    folders = {path.parent.name for path in (ROOT / "tests" / tests).glob("*/test_*.py")}
    assert folders == {path.parent.name for path in _PACKAGES[package].glob("*/*.py")}
