"""What a git ref has, taken out of the repository. Nothing here knows what is in the files."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

from codegen.errors import SourceError

_INSTEAD = "Compare two folders of schemas instead."


def extract(ref: str, repository: Path, target: Path, *paths: str) -> None:
    """Put what a git ref has at these paths below a folder.

    Raises:
        SourceError: there is no such ref, or it lacks one of the paths.
    """
    _check(ref, repository)
    for path in paths:
        if not has(ref, repository, path):
            raise SourceError(_missing(ref, repository, path))
    archive = _git(["archive", "--format=tar", ref, "--", *paths], repository)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(target, filter="data")


def has(ref: str, repository: Path, path: str) -> bool:
    """Whether a git ref, which there is, has anything at a path."""
    return bool(_git(["ls-tree", ref, "--", path], repository))


def _check(ref: str, repository: Path) -> None:
    if not ref:
        raise SourceError(
            "Say what to compare with, for instance `make diff BASE=main`: what was given is empty, which is neither a "
            "folder nor a git ref."
        )
    _git(["rev-parse", "--git-dir"], repository)
    verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
    if _run(verify, repository).returncode:
        raise SourceError(
            f"{ref!r} is neither a folder nor a git ref that is known here. `git fetch --tags` brings what others have."
        )


def _missing(ref: str, repository: Path, path: str) -> str:
    if not _git(["ls-files"], repository):
        return f"This folder is not part of the git repository that it is in, so it has no git refs. {_INSTEAD}"
    return f"The commit {ref} has no {path}, so there is nothing to compare."


def _git(arguments: list[str], repository: Path) -> bytes:
    done = _run(arguments, repository)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        reason = said[-1] if said[0].startswith("hint") else said[0]
        raise SourceError(f"A git ref can't be read here: {reason.removeprefix('fatal: ').rstrip('.')}. {_INSTEAD}")
    return done.stdout


def _run(arguments: list[str], repository: Path) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], cwd=repository, capture_output=True, check=False)
    except OSError as error:
        raise SourceError(f"git is needed to read a git ref, and it can't be run. {_INSTEAD}") from error
