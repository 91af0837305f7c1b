"""Rewrites files together, because one uses the classes of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper

from acp_kit.migrate.files import File
from acp_kit.migrate.names import Names
from acp_kit.migrate.project import Project, read_project
from acp_kit.migrate.resolving import Tracking
from acp_kit.migrate.rewriting import read_attributes, rewrite_module


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


def migrate(files: Sequence[File], names: Names) -> Iterator[Result]:
    """Yield what becomes of those files that have to do with `acp`.

    Args:
        files: all files of a project.
        names: what each name of `acp` is here.
    """
    wrappers: dict[File, MetadataWrapper] = {}
    problems: dict[File, str] = {}

    def parse(chosen: Sequence[File]) -> None:
        for file in chosen:
            try:
                wrapper = MetadataWrapper(cst.parse_module(file.content))
                wrapper.resolve_many(Tracking.METADATA_DEPENDENCIES)
            except (cst.ParserSyntaxError, UnicodeDecodeError, SyntaxError, LookupError, RecursionError) as error:
                problems[file] = f"it can't be parsed ({_first_line(error)})"
            else:
                wrappers[file] = wrapper

    def modules() -> list[cst.Module]:
        return [each.module for each in wrappers.values()]

    roots = {part for file in files for part in (*file.path.resolve().parts, file.path.stem)}
    parse([each for each in files if each.mentions(["acp"])])
    project = read_project(modules(), roots)
    parse([each for each in files if not {each} & {*wrappers, *problems} and each.mentions(project.classes)])
    project = read_project(modules(), roots, project.files)
    for wrapper in wrappers.values():
        read_attributes(wrapper, project.seen_from(wrapper.module))
    for file in files:
        if file in problems:
            yield Result(file, file.content, problem=problems[file])
        elif file in wrappers:
            yield _rewritten(file, wrappers[file], project, names)


def _rewritten(file: File, wrapper: MetadataWrapper, project: Project, names: Names) -> Result:
    try:
        new = rewrite_module(wrapper, project, names, uses=file.mentions(project.classes))
        cst.parse_module(new.module.code)
    except Exception as error:  # one file that this can't deal with must not stop the others
        return Result(
            file, file.content, problem=f"it can't be rewritten ({type(error).__name__}: {_first_line(error)})"
        )
    return Result(file, new.module.bytes, new.module.encoding, new.changes, new.todos)


def _first_line(error: Exception) -> str:
    if isinstance(error, cst.ParserSyntaxError):
        return f"line {error.raw_line}: {error.message}"
    return str(error).partition("\n")[0]
