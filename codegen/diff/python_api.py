"""What breaks for users of the hand-written packages, acp_runtime and acp_kit. griffe finds it in their source."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import griffe

from codegen.diff import git

_PACKAGES = ("runtime/acp_runtime", "kit/acp_kit")
# docs/project/compatibility-promise.md lists the public modules.
_OF_RUNTIME = ("errors", "options", "logs", "transports")
_OF_KIT = (
    "agent",
    "client",
    "confined",
    "content",
    "frame_log",
    "history",
    "registry",
    "remote",
    "sync",
    "telemetry",
    "threads",
)
PUBLIC = {"acp_runtime", *(f"acp_runtime.{each}" for each in _OF_RUNTIME), *(f"acp_kit.{each}" for each in _OF_KIT)}

# These import all that they offer.
_IMPORTING = {"acp_runtime", "acp_runtime.transports"}


def python_api_changes(base: str, head: str, repository: Path) -> tuple[str, ...] | None:
    """Return a line of Markdown for each breaking change; None if a side has only schemas.

    Args:
        base: a git ref of the repository, or a folder: a checkout, or the folder `schema` of one.
        head: likewise.
        repository: the repository.
    """
    with tempfile.TemporaryDirectory(prefix="acp-api-") as temporary:
        old = _checkout(base, repository, Path(temporary) / "base")
        new = _checkout(head, repository, Path(temporary) / "head")
        return tuple(_changes(old, new)) if old and new else None


def _checkout(where: str, repository: Path, target: Path) -> Path | None:
    """Return a folder with the packages of one side; None if it has none."""
    folder = Path(where).resolve()
    if folder.is_dir():
        has_packages = (each for each in (folder, folder.parent) if all((each / path).is_dir() for path in _PACKAGES))
        return next(has_packages, None)
    if not all(git.has(where, repository, path) for path in _PACKAGES):
        return None
    git.extract(where, repository, target, *_PACKAGES)
    return target


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
        for name, member in modules[importing].members.items():
            if isinstance(member, griffe.Alias):
                member.public = not name.startswith("_") and member.target_path.startswith("acp_runtime.")
    return modules
