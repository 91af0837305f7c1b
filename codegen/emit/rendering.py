"""Renders Jinja templates. A mistake in a template is one sentence with the file and the line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError, UndefinedError
from jinja2.meta import find_undeclared_variables

from codegen.errors import FileError

_ROOT = Path(__file__).parents[2]
_RESTORE = "Correct the template, or restore it with git."


class Templates:
    """The templates of a folder.

    Args:
        folder: the folder.
        filters: functions that the templates may use as filters.
        options: further options of Jinja's environment.
    """

    def __init__(self, folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None, **options: Any) -> None:
        self._folder = folder
        self._environment = Environment(loader=FileSystemLoader(folder), undefined=StrictUndefined, **options)
        all_filters: dict[str, Any] = self._environment.filters  # Jinja's type stubs list only its own filters
        all_filters.update(filters or {})

    def render(self, name: str, /, **values: Any) -> str:
        """Render a template with these values.

        Raises:
            FileError: the template is missing or invalid, or uses an undefined name.
        """
        with _report_errors(self._folder, name):
            return self._environment.get_template(name).render(**values)

    def check(self, name: str, allowed: set[str]) -> None:
        """Check that a template, which is rendered elsewhere, uses only these names.

        Raises:
            FileError: the template is missing or invalid, or uses another name.
        """
        with _report_errors(self._folder, name):
            loader = self._environment.loader
            assert loader is not None
            source = loader.get_source(self._environment, name)[0]
            for unknown in sorted(find_undeclared_variables(self._environment.parse(source, name)) - allowed):
                raise _error(self._folder / name, f"{unknown!r} is undefined. {_RESTORE}")


@contextmanager
def _report_errors(folder: Path, name: str) -> Generator[None]:
    """Turn errors in a template into FileErrors. Errors in code that a template calls pass through."""
    try:
        yield
    except TemplateNotFound as error:
        raise _error(folder / (error.name or name), "The template is missing. Restore it with git.") from error
    except UnicodeDecodeError as error:
        raise _error(folder / name, f"The template is not UTF-8. {_RESTORE}") from error
    except TemplateSyntaxError as error:
        # Jinja no longer knows the file's name when it finds an unknown filter.
        file = name if error.name in (None, "<introspection>") else error.name
        raise _error(folder / file, f"{_end_sentence(error.message)} {_RESTORE}", error.lineno) from error
    except UndefinedError as error:
        frames = traceback.extract_tb(error.__traceback__)
        innermost = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)][-1]
        sentence = f"{_end_sentence(error.message)} {_RESTORE}"
        raise _error(Path(innermost.filename), sentence, innermost.lineno) from error


def _error(path: Path, sentence: str, line: int | None = None) -> FileError:
    place = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else str(path)
    return FileError("", f"{place}{f', line {line}' if line else ''}: {sentence}")


def _end_sentence(text: str | None) -> str:
    """Return a text on one line, with a full stop at the end."""
    line = " ".join((text or "").split())
    return line if line.endswith(".") else f"{line}."
