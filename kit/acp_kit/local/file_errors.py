"""Converts the errors of files to the errors of the protocol."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from acp_kit.local.confined import FileTooLarge, InvalidPath, NotARegularFile, OutsideRoots
from acp_kit.local.text_format import NotText
from acp_runtime import InternalError, InvalidParams, ResourceNotFound
from acp_runtime.escaping import printable

_MAX_PATH = 4096


@contextmanager
def answering_file_errors(path: str) -> Generator[None]:
    """Convert the errors that the path of a request can cause.

    Raises:
        ResourceNotFound: if the file doesn't exist.
        InvalidParams: if the path is not absolute or leads outside the roots, or if the file is not a text file or is
            too large.
        InternalError: if the system refuses, for example because of permissions.
    """
    data: dict[str, object] = {"path": path[:_MAX_PATH]}
    try:
        yield
    except OutsideRoots as error:
        raise InvalidParams(str(error), {**data, "roots": [str(root) for root in error.roots]}) from error
    except (InvalidPath, NotARegularFile, FileTooLarge) as error:
        raise InvalidParams(str(error), data) from error
    except NotText as error:
        raise InvalidParams(f"{printable(path)!r} {error}.", data) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        # Some agents recognise a missing file only by these words, which Node.js and Python use.
        raise ResourceNotFound(
            f"{printable(path)!r} doesn't exist (ENOENT: No such file or directory).", data
        ) from error
    except OSError as error:
        raise InternalError(f"{printable(path)!r}: {error.strerror}.", data) from error
