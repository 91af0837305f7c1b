"""Lists what breaks for users of acp_runtime and acp_kit, the hand-written packages: `make api-changes`. Uses griffe.

Some of these changes break nobody: a method that a class now inherits from another package is listed as removed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
PUBLIC = {
    "acp_runtime",
    *(f"acp_runtime.{module}" for module in _OF_RUNTIME),
    *(f"acp_kit.{module}" for module in _OF_KIT),
}

# These import all that they offer.
_IMPORTING = {"acp_runtime", "acp_runtime.transports", "acp_kit.registry", "acp_kit.sync", "acp_kit.versions"}


def python_api_changes(base: str, repository: Path) -> list[str]:
    """Return a line of Markdown for each breaking change from a git ref to the working tree."""
    with tempfile.TemporaryDirectory(prefix="acp-api-") as folder:
        git.extract(base, repository, Path(folder), *_PACKAGES)
        return list(_find_changes(Path(folder), repository))


def _find_changes(old: Path, new: Path) -> Iterator[str]:
    before, after = _load_public_modules(old), _load_public_modules(new)
    yield from (f"`{name}`: *Public module was removed*" for name in before if name not in after)
    seen: set[str] = set()  # some names can be imported from two modules
    for name in [name for name in before if name in after]:
        for breakage in griffe.find_breaking_changes(before[name], after[name]):
            text = breakage.explain(griffe.ExplanationStyle.MARKDOWN).removeprefix("- ")
            if text not in seen:
                yield f"`{name}`: {text}"
            seen.add(text)


def _load_public_modules(folder: Path) -> dict[str, griffe.Module]:
    """Return the public modules of a checkout by their names, without the modules in them, which may be private."""
    paths = [folder / package for package in _PACKAGES]
    loader = griffe.GriffeLoader(search_paths=[path.parent for path in paths], allow_inspection=False)
    packages = [loader.load(path.name) for path in paths]
    loader.resolve_aliases()
    modules = {
        module.path: module
        for package in packages
        for module in (package, *package.modules.values())
        if module.path in PUBLIC and isinstance(module, griffe.Module)
    }
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
