"""Rewrites files together, because one uses the classes of another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from acp_migrate.exports import Exports, module_name, read_exports
from acp_migrate.files import File
from acp_migrate.names import Names
from acp_migrate.own import own_fields, own_methods
from acp_migrate.parsing import Unparsable, check, parse
from acp_migrate.project import Project, read_project
from acp_migrate.reading import ReadFile, read_file
from acp_migrate.rewriting import read_attributes, rewrite_module
from acp_migrate.scopes import Scopes
from acp_migrate.usage import may_use_acp

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Result:
    """What became of a file.

    Attributes:
        file: the file as it was.
        content: its new content; the old one if nothing changes.
        encoding: in which it is written.
        changes: how many places were changed.
        todos: how many places are left to a person.
        problem: why it was left as it is, if it couldn't be parsed or rewritten.
    """

    file: File
    content: bytes
    encoding: str = "utf-8"
    changes: int = 0
    todos: int = 0
    problem: str = ""


def migrate(files: Sequence[File], names: Names, progress: Progress | None = None) -> Iterator[Result]:
    """Yield what becomes of those files that have to do with `acp`.

    Args:
        files: all files of a project.
        names: what each name of `acp` is here.
        progress: called with what is done, how many files are done and how many there are.
    """
    roots = {part for file in files for part in (*file.path.resolve().parts, file.path.stem)}
    progress = progress or _ignore
    read = _Read(roots, progress)
    read.add([each for each in files if may_use_acp(each.content)])
    exports = read.exports()
    read.add([each for each in files if each not in read and exports.are_used_in(each)])
    project = read_project(read.found, exports, roots)
    read.add([each for each in files if each not in read and each.mentions(project.classes)])
    models = project.annotated.models
    read.add([each for each in files if each not in read and each.sets_attributes() and each.mentions(models)])
    project = read_project(read.found, read.exports(), roots)
    named = {name for role in names.methods.values() for name in role}
    project.own, project.fields = own_methods(files, named), own_fields(files)
    for file, scopes in [*read.scopes.items()]:
        try:
            read_attributes(scopes, project.seen_from(scopes.module))
        except Exception as error:
            read.fail(file, error)
    chosen = [each for each in files if each in read]
    for position, file in enumerate(chosen):
        progress("Rewritten", position, len(chosen))
        if file in read.problems:
            yield Result(file, file.content, problem=read.problems[file])
        else:
            yield _rewritten(file, read.scopes[file], project, names)


def _ignore(what: str, done: int, total: int) -> None:
    """Report no progress."""


@dataclass
class _Read:
    """The files that were read, each alone: one that can't be read must not stop the others."""

    roots: Collection[str]
    progress: Progress
    scopes: dict[File, Scopes] = field(default_factory=dict[File, Scopes])
    problems: dict[File, str] = field(default_factory=dict[File, str])
    found: dict[cst.Module, ReadFile] = field(default_factory=dict[cst.Module, ReadFile])

    def __contains__(self, file: File) -> bool:
        return file in self.scopes or file in self.problems

    def add(self, files: Sequence[File]) -> None:
        for position, file in enumerate(files):
            self.progress("Read", position, len(files))
            try:
                scopes = Scopes(parse(file.content))
                self.found[scopes.module] = read_file(scopes.module, self.roots)
            except Exception as error:
                self.fail(file, error)
            else:
                self.scopes[file] = scopes

    def fail(self, file: File, error: Exception) -> None:
        self.scopes.pop(file, None)
        self.problems[file] = f"it can't be parsed ({_reason(error)})"

    def exports(self) -> Exports:
        return read_exports([(file.path, scopes.module) for file, scopes in self.scopes.items()])


def _rewritten(file: File, scopes: Scopes, project: Project, names: Names) -> Result:
    try:
        new = rewrite_module(scopes, project, names, module_name(file.path))
        if new.content != file.content:
            check(new.content)
    except Exception as error:  # one file that this can't deal with must not stop the others
        return Result(file, file.content, problem=f"it can't be rewritten ({type(error).__name__}: {_reason(error)})")
    return Result(file, new.content, new.encoding, new.changes, new.todos)


def _reason(error: Exception) -> str:
    if isinstance(error, (RecursionError, MemoryError)):
        return "it is nested too deeply"
    name = "" if isinstance(error, Unparsable) else type(error).__name__
    return str(error).partition("\n")[0] or name
