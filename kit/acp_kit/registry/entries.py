"""An entry of the registry, checked. What passes can be an argument of npx or uvx, but no option or file of theirs.

Upstream's schema: https://github.com/agentclientprotocol/registry, `agent.schema.json`. Unknown keys are ignored,
because upstream adds some.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

# In these patterns, `$` is the very end, because pydantic's regular expressions are those of Rust.
_NPM = r"^(@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*(@[0-9A-Za-z][0-9A-Za-z.+-]*)?$"
_EXTRAS = r"(\[[A-Za-z0-9._,-]+\])?"
_PYPI = rf"^[A-Za-z0-9][A-Za-z0-9._-]*{_EXTRAS}((==|>=|~=|@)[0-9A-Za-z][0-9A-Za-z.!+*-]*)?$"
# npx and uvx look for these in the current folder.
_FILES = (".tgz", ".tar", ".tar.gz", ".whl", ".zip", ".py")
# uvx runs an interpreter by these names, which would run code in the arguments.
_INTERPRETER = re.compile(r"(c?python|pypy|graalpy|pyodide)w?[0-9.]*t?([\[@=<>~].*)?", re.IGNORECASE)


def _no_file(package: str) -> str:
    if package.lower().endswith(_FILES):
        raise ValueError("looks like the name of a file")
    return package


def _no_interpreter(package: str) -> str:
    if _INTERPRETER.fullmatch(package):
        raise ValueError("is the name of an interpreter")
    return package


def _inside(path: str) -> str:
    parts = {*PurePosixPath(path).parts, *PureWindowsPath(path).parts}
    if ".." in parts or PurePosixPath(path).is_absolute() or PureWindowsPath(path).anchor:
        raise ValueError("is not inside of the archive")
    return path


_Text = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$")]
_Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Platform = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]+$")]
_NpmPackage = Annotated[str, StringConstraints(pattern=_NPM), AfterValidator(_no_file)]
_PypiPackage = Annotated[
    str, StringConstraints(pattern=_PYPI), AfterValidator(_no_file), AfterValidator(_no_interpreter)
]
_HttpsUrl = Annotated[str, StringConstraints(pattern=r"^https://[^\x00-\x20\x7f]+$")]
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[a-fA-F0-9]{64}$")]
_InnerPath = Annotated[_Text, StringConstraints(min_length=1), AfterValidator(_inside)]


class _Checked(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)


class _Run(_Checked):
    args: tuple[_Text, ...] = ()
    env: dict[_Variable, _Text] = {}


class _Package(_Run):
    # Not in upstream's schema. npx and uvx would look for another command in all of PATH, and find `sh` or `python`.
    cmd: None = None


class Npx(_Package):
    """A package that npx runs."""

    package: _NpmPackage


class Uvx(_Package):
    """A package that uvx runs."""

    package: _PypiPackage


class Archive(_Run):
    """An archive with a program for one platform."""

    archive: _HttpsUrl
    cmd: _InnerPath
    sha256: _Sha256 | None = None


class Distribution(_Checked):
    """The ways to get an agent."""

    npx: Npx | None = None
    uvx: Uvx | None = None
    binary: dict[_Platform, Archive] = {}


class Entry(_Checked):
    """An agent."""

    version: _Text
    distribution: Distribution
