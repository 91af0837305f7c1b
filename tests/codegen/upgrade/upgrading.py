"""A small repository with a copy of codegen, in which tests run `python -m codegen upgrade`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.pinned.profiles import PLACES_OF
from tests.support.codegen.build import Schema, tree
from tests.support.codegen.pinning import package
from tests.support.codegen.refusal_base import BASE
from tests.support.codegen_copy import Copy, Ran, codegen_copy
from tests.support.git import git

CHANGELOG = """\
# Changelog

What changed for users.

## 0.1.0 (unreleased)

The first version.

### Models

- They are typed.
"""


@dataclass
class Repository:
    """A repository whose first commit has version 1.0.0 of a small schema, and nothing released.

    Attributes:
        copy: the copy of codegen.
        packages: a folder outside of it, for the sources of upgrades.
    """

    copy: Copy
    packages: Path

    @property
    def root(self) -> Path:
        return self.copy.root

    def git(self, *words: str) -> str:
        return git(self.root, *words)

    def commit(self, *tags: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Some change")
        for tag in tags:
            self.git("tag", tag)

    def reset(self, commit: str) -> None:
        """Return to a commit, without tags and files that aren't tracked."""
        for tag in self.git("tag").split():
            self.git("tag", "--delete", tag)
        self.git("reset", "--quiet", "--hard", commit)
        self.git("clean", "--quiet", "-fd")

    def package(self, version: str, schema: Schema, **others: Schema) -> Path:
        """Write an unpacked package, and return its folder, which is a source.

        `others` are the schemas of other profiles than `v1`, by profile.
        """
        shutil.rmtree(self.packages / version, ignore_errors=True)
        schemas = {PLACES_OF[profile][0]: content for profile, content in {"v1": schema, **others}.items()}
        return package(self.packages / version, schemas, version=version)

    def run(self, source: object, *options: str) -> Ran:
        return self.copy.run("upgrade", str(source), *options)

    def upgrade(self, version: str, schema: Schema, *options: str) -> str:
        """Upgrade to a package, which must succeed, and return what was printed."""
        done = self.run(self.package(version, schema), *options)
        assert (done.code, done.err) == (0, "")
        return done.out

    def refused(self, source: object, code: int) -> str:
        """Upgrade, which must change nothing, and return the line on stderr."""
        before = tree(self.root)
        done = self.run(source)
        assert (done.code, done.out) == (code, "")
        assert done.err.startswith("codegen: ")
        assert done.err.count("\n") == 1
        assert tree(self.root) == before
        return done.err

    def text(self, name: str) -> str:
        return (self.root / name).read_text("utf-8")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, "utf-8")

    @property
    def pins(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.text("schema/PINNED.json"))
        return data

    @property
    def version(self) -> str:
        (line,) = [line for line in self.text("pyproject.toml").splitlines() if line.startswith("version = ")]
        return line.split('"')[1]


@contextmanager
def new_repository(folder: Path) -> Generator[Repository]:
    """Create the repository in an empty folder."""
    with codegen_copy(folder / "copy", BASE) as copy:
        repository = Repository(copy, folder / "packages")
        done = copy.run("fetch", str(repository.package("1.0.0", BASE)))
        assert done.code == 0, done.err
        assert copy.run("regen").code == 0
        repository.write("CHANGELOG.md", CHANGELOG)
        repository.write(".gitignore", "__pycache__/\n")
        repository.git("init", "--quiet", "--initial-branch=main")
        repository.commit()
        yield repository
