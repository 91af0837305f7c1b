"""Jinja templates: every name in them has to be known, and what is wrong is a sentence with the file and the line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError
from jinja2.meta import find_undeclared_variables

from codegen.errors import FileError, SchemaError

_ROOT = Path(__file__).parents[2]
_RESTORE = "Correct the template, or restore it with git."


class Templates:
    """The templates of a folder.

    Args:
        folder: where they are.
        filters: functions that they may use.
        options: more for Jinja's environment.
    """

    def __init__(self, folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None, **options: Any) -> None:
        self._folder = folder
        self._environment = Environment(loader=FileSystemLoader(folder), undefined=StrictUndefined, **options)
        known: dict[str, Any] = self._environment.filters  # Jinja's stubs know its own filters alone
        known.update(filters or {})

    def render(self, name: str, /, **values: Any) -> str:
        """A template with these values.

        Raises:
            FileError: the template is missing, isn't one, or has a name that nothing is known by.
        """
        with _sentences(self._folder, name):
            return self._environment.get_template(name).render(**values)

    def check(self, name: str, known: set[str]) -> None:
        """Whether a template that somebody else renders uses nothing but these names.

        Raises:
            FileError: it doesn't, is missing, or isn't a template.
        """
        with _sentences(self._folder, name):
            loader = self._environment.loader
            assert loader is not None
            source = loader.get_source(self._environment, name)[0]
            for unknown in sorted(find_undeclared_variables(self._environment.parse(source, name)) - known):
                raise _error(self._folder / name, f"{unknown!r} is undefined. {_RESTORE}")


@contextmanager
def _sentences(folder: Path, name: str) -> Generator[None]:
    """What goes wrong in a template as a sentence. An error that codegen raises on purpose stays what it is."""
    try:
        yield
    except TemplateNotFound as error:
        raise _error(folder / (error.name or name), "The template is missing. Restore it with git.") from error
    except (SchemaError, OSError):
        raise
    except TemplateSyntaxError as error:
        # A filter that there isn't is found so late that Jinja no longer knows the file.
        file = name if error.name in (None, "<introspection>") else error.name
        raise _error(folder / file, f"{_stop(error.message)} {_RESTORE}", error.lineno) from error
    except UnicodeDecodeError as error:
        raise _error(folder / name, f"Not UTF-8: {error.reason}. {_RESTORE}") from error
    except Exception as error:
        place = _place(folder, error)
        if place is None:
            raise
        raise _error(place[0], f"{_stop(str(error))} {_RESTORE}", place[1]) from error


def _error(path: Path, sentence: str, line: int | None = None) -> FileError:
    place = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else str(path)
    return FileError("", f"{place}{f', line {line}' if line else ''}: {sentence}")


def _place(folder: Path, error: Exception) -> tuple[Path, int | None] | None:
    """The file and the line of a template that an error is from; None if it is from the code that a template calls."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [index for index, each in enumerate(frames) if Path(each.filename).is_relative_to(folder)]
    if not own or any(Path(each.filename).is_relative_to(_ROOT / "codegen") for each in frames[own[-1] + 1 :]):
        return None
    return Path(frames[own[-1]].filename), frames[own[-1]].lineno


def _stop(text: str | None) -> str:
    """A text as a sentence on one line."""
    line = " ".join((text or "").split())
    return line if line.endswith(".") else f"{line}."
