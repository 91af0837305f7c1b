"""An entry of the registry, validated: it names a package for npx or uvx, and can't name an option or a file.

Upstream's schema: https://github.com/agentclientprotocol/registry, `agent.schema.json`. Unknown keys are ignored,
because upstream adds some.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

# npx and uvx look for these in the current folder.
_NO_FILE = r"^(?!(?i:.*\.(tgz|tar|tar\.gz|whl|zip|py)\Z))"
# uvx runs an interpreter by these names, which would run code in the arguments.
_NO_INTERPRETER = r"(?!(?i:(c?python|pypy|graalpy|pyodide)w?[0-9.]*t?([\[@=<>~].*)?\Z))"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NPM = rf"{_NO_FILE}(@[a-z0-9][a-z0-9._-]*/)?{_NAME}(@[0-9A-Za-z][0-9A-Za-z.+-]*)?\Z"
_PYPI = rf"{_NO_FILE}{_NO_INTERPRETER}{_NAME}(\[[A-Za-z0-9._,-]+\])?((==|>=|~=|@)[0-9A-Za-z][0-9A-Za-z.!+*-]*)?\Z"
# Neither absolute, on any platform, nor with a step upwards.
_INSIDE = r"^(?![/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|\Z))[^\x00-\x1f\x7f]+\Z"

_Text = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*\Z")]
_Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}\Z")]
_Platform = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,100}\Z")]


class _Checked(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, regex_engine="python-re")


class _Run(_Checked):
    args: tuple[_Text, ...] = ()
    env: dict[_Variable, _Text] = {}


class _Package(_Run):
    # Not in upstream's schema. npx and uvx would look for another command in all of PATH, and find `sh` or `python`.
    cmd: None = None


class Npx(_Package):
    """A package that npx runs."""

    package: str = Field(pattern=_NPM)


class Uvx(_Package):
    """A package that uvx runs."""

    package: str = Field(pattern=_PYPI)


class Archive(_Run):
    """An archive with a program for one platform."""

    archive: str = Field(pattern=r"^https://[^\x00-\x20\x7f]+\Z")
    command: str = Field(pattern=_INSIDE, validation_alias="cmd")
    sha256: str | None = Field(None, pattern=r"^[a-fA-F0-9]{64}\Z")


class Distribution(_Checked):
    """The ways to get an agent."""

    npx: Npx | None = None
    uvx: Uvx | None = None
    binary: dict[_Platform, Archive] = {}


class Entry(_Checked):
    """An agent."""

    version: _Text
    distribution: Distribution
