"""What breaks for users of the hand-written packages, acp_runtime and acp_kit: `make api-changes`. griffe finds it.

Some of what it lists breaks nobody, such as a method that a class has from a base class in another package now.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import griffe

from codegen.diff import git
from tools.paths import ROOT

_PACKAGES = ("runtime/acp_runtime", "kit/acp_kit")
# docs/project/compatibility-promise.md lists the public modules.
_OF_RUNTIME = ("errors", "options", "logs", "transports")
_OF_KIT = (
    "agent",
    "client",
    "content",
    "frame_log",
    "history",
    "local.confined",
    "registry",
    "remote",
    "sync",
    "telemetry",
    "testing",
    "threads",
    "v2",
    "versions",
)
PUBLIC = {"acp_runtime", *(f"acp_runtime.{each}" for each in _OF_RUNTIME), *(f"acp_kit.{each}" for each in _OF_KIT)}

# These import all that they offer.
_IMPORTING = {"acp_runtime", "acp_runtime.transports", "acp_kit.registry", "acp_kit.sync", "acp_kit.versions"}


def offered(module: ModuleType) -> list[str]:
    """Return the public names of a module: without an `__all__`, all that it imports or defines, but modules."""
    names = [name for name, value in vars(module).items() if name[0] != "_" and not isinstance(value, ModuleType)]
    return sorted(getattr(module, "__all__", names))


def python_api_changes(base: str, repository: Path) -> list[str]:
    """Return a line of Markdown for each breaking change from a git ref to the working tree."""
    with tempfile.TemporaryDirectory(prefix="acp-api-") as folder:
        git.extract(base, repository, Path(folder), *_PACKAGES)
        return list(_changes(Path(folder), repository))


def _changes(old: Path, new: Path) -> Iterator[str]:
    before, after = _public_modules(old), _public_modules(new)
    yield from (f"`{name}`: *Public module was removed*" for name in before if name not in after)
    seen: set[str] = set()  # some names can be imported from two modules
    for name in [each for each in before if each in after]:
        for each in griffe.find_breaking_changes(before[name], after[name]):
            text = each.explain(griffe.ExplanationStyle.MARKDOWN).removeprefix("- ")
            if text not in seen:
                yield f"`{name}`: {text}"
            seen.add(text)


def _public_modules(folder: Path) -> dict[str, griffe.Module]:
    """Return the public modules of a checkout by their names, without the modules in them, which may be private."""
    paths = [folder / each for each in _PACKAGES]
    loader = griffe.GriffeLoader(search_paths=[each.parent for each in paths], allow_inspection=False)
    packages = [loader.load(each.name) for each in paths]
    loader.resolve_aliases()
    found = {each.path: each for package in packages for each in (package, *package.modules.values())}
    modules = {name: each for name, each in found.items() if name in PUBLIC and isinstance(each, griffe.Module)}
    for module in modules.values():
        for name in module.modules:
            module.del_member(name)
    for importing in _IMPORTING & modules.keys():
        package = importing.partition(".")[0]
        for name, member in modules[importing].members.items():
            if isinstance(member, griffe.Alias):
                member.public = not name.startswith("_") and member.target_path.startswith(f"{package}.")
    return modules


if __name__ == "__main__":
    for line in python_api_changes(sys.argv[1], ROOT):
        print(line)
