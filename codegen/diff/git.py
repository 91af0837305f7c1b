"""Reads the repository: files of a git ref, uncommitted changes, the branch and the tags."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

from codegen.errors import SourceError

_ALTERNATIVE = "Compare two folders of schemas instead."


def extract(ref: str, repository: Path, target: Path, *paths: str, optional: tuple[str, ...] = ()) -> None:
    """Write the files of a git ref at these paths into a folder.

    Raises:
        SourceError: there is no such ref, or it lacks a path that isn't optional.
    """
    _check(ref, repository)
    for path in paths:
        if not has(ref, repository, path):
            raise SourceError(f"{ref} has no {path}, so it can't be compared. {_ALTERNATIVE}")
    present = (path for path in optional if has(ref, repository, path))
    archive = _git(["archive", "--format=tar", ref, "--", *paths, *present], repository)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(target, filter="data")


def has(ref: str, repository: Path, path: str) -> bool:
    """Return whether an existing git ref has a file or folder at a path."""
    return bool(_git(["ls-tree", ref, "--", path], repository))


def changed_files(repository: Path, *paths: str, next_step: str) -> list[str]:
    """Return the files below these paths that differ from the last commit, new ones included.

    Raises:
        SourceError: there is no repository. The error ends with the sentence `next_step`.
    """
    command = ["--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--"]
    output = _git([*command, *paths], repository, next_step)
    return [entry[3:] for entry in output.decode("utf-8", "replace").split("\0") if entry]


def show(ref: str, repository: Path, path: str) -> str:
    """Return the text of a file of a git ref."""
    # Without "./", git looks from the top of the repository, which may be a folder above.
    return _git(["show", f"{ref}:./{path}"], repository).decode("utf-8")


def branch(repository: Path) -> str:
    """Return the name of the current branch, or HEAD if there is none."""
    return _run(["symbolic-ref", "--quiet", "--short", "HEAD"], repository).stdout.decode().strip() or "HEAD"


def tags(repository: Path) -> list[str]:
    return _git(["tag", "--list"], repository).decode().split()


def _check(ref: str, repository: Path) -> None:
    if not ref:
        raise SourceError(
            "The base or the head is empty. Give a folder of schemas or a git ref, for example `make diff BASE=main`."
        )
    verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
    if _run(verify, repository).returncode:
        _git(["rev-parse", "--git-dir"], repository)  # fails outside of a repository, and says why
        raise SourceError(
            f"{ref!r} is neither a folder nor a git ref of this repository. If it exists upstream, run `git fetch "
            "--tags` first."
        )


def _git(arguments: list[str], repository: Path, next_step: str = _ALTERNATIVE) -> bytes:
    process = _run(arguments, repository)
    if process.returncode:
        lines = process.stderr.decode("utf-8", "replace").strip().splitlines() or ["git gave no reason"]
        reason = lines[-1] if lines[0].startswith("hint") else lines[0]
        raise SourceError(f"Git refs can't be read here: {reason.removeprefix('fatal: ').rstrip('.')}. {next_step}")
    return process.stdout


def _run(arguments: list[str], repository: Path) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], cwd=repository, capture_output=True, check=False)
    except OSError as error:
        raise SourceError(f"git is needed to read a git ref, but it can't be run. {_ALTERNATIVE}") from error
