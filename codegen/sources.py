"""Where schemas come from: a package of npm, a folder, a file."""

from __future__ import annotations

import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.errors import FetchError
from codegen.nodes import is_object
from codegen.pins import parse_json
from codegen.profiles import ONE_FILE, PLACES, find_files

_NPM = "npm:"
_PACKAGE = re.compile(r"(?P<name>(@[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*)(@(?P<wanted>[\w][\w.+-]*))?")
_NPM_SECONDS = 120
_READ = re.compile(r"package/(schema/.*|package\.json|LICENSE)")
_UNKNOWN = {"E404", "ETARGET", "EINVALIDTAGNAME"}
_UNREACHABLE = {"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH"}


@dataclass(frozen=True)
class Release:
    """What a source has.

    Attributes:
        source: what to call it in PINNED.json; names no place on this machine.
        version: the release's version; empty if nothing says it.
        license: the identifier of its licence; empty likewise.
        license_text: the licence itself, if it comes with one.
        schemas: the schemas, by their paths in `schema/`.
    """

    source: str
    version: str
    license: str
    license_text: bytes | None
    schemas: dict[str, bytes]


def read_source(source: str) -> Release:
    """Read a source, whatever it is.

    Raises:
        FetchError: if it isn't there, or there is no schema in it.
    """
    if not source:
        raise FetchError("Say from where: FROM=npm:@agentclientprotocol/sdk@<version>, or a folder, or a file.")
    if source.startswith(_NPM):
        with tempfile.TemporaryDirectory(prefix="acp-fetch-") as folder:
            return _from_npm(source.removeprefix(_NPM), Path(folder))
    if Path(source).is_dir():
        return _from_folder(Path(source))
    if Path(source).is_file():
        return _from_file(Path(source))
    raise FetchError(f"{source} is neither npm:<package>@<version> nor a folder nor a file.")


def _from_file(path: Path) -> Release:
    """One schema, in the place that its own path says, else as the one file that releases up to 1.9 have."""
    place = f"{path.resolve().parent.name}/{path.name}"
    file = place if place in PLACES else ONE_FILE
    return Release(f"file:{path.name}", "", "", None, {file: path.read_bytes()})


def _from_folder(folder: Path) -> Release:
    package = _package_json(folder)
    name, version = package.get("name"), package.get("version", "")
    source = f"folder:{name}@{version}" if name else f"folder:{folder.resolve().name}"
    return _release(folder, source, package)


def _from_npm(spec: str, folder: Path) -> Release:
    """The package that npm gives for a name and a version or tag."""
    wanted = _PACKAGE.fullmatch(spec)
    if wanted is None:
        raise FetchError(f"npm:{spec} is not npm:<package>@<version or tag>.")
    _npm_pack(spec, folder)
    archives = list(folder.glob("*.tgz"))
    if len(archives) != 1:
        raise FetchError(f"npm packed {len(archives)} archives for {spec}, expected one.")
    _unpack(archives[0], folder)
    package = _package_json(folder / "package")
    if package.get("name") != wanted["name"]:
        raise FetchError(f"npm gave the package {package.get('name')!r} for {spec}.")
    return _release(folder / "package", f"{_NPM}{package['name']}@{package.get('version', '')}", package)


def _npm_pack(spec: str, folder: Path) -> None:
    command = ["npm", "pack", "--ignore-scripts", "--silent", "--loglevel=error", spec]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_NPM_SECONDS)
    except FileNotFoundError as error:
        raise FetchError("There is no npm. Install Node.js, or fetch from a folder: FROM=<folder>.") from error
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"npm didn't bring {spec} within {_NPM_SECONDS} seconds.") from error
    if done.returncode:
        raise FetchError(_npm_failure(spec, done.stderr))


def _npm_failure(spec: str, text: str) -> str:
    found = re.search(r"^npm (?:error|ERR!) code (\w+)", text, re.MULTILINE)
    code = found[1] if found else "no code"
    if code in _UNKNOWN:
        return f"npm knows no {spec}."
    if code in _UNREACHABLE:
        return f"npm can't reach its registry ({code})."
    return f"npm could not pack {spec} ({code})."


def _unpack(archive: Path, folder: Path) -> None:
    """Only what is read from the package, and only inside the folder."""
    if not hasattr(tarfile, "data_filter"):
        raise FetchError("Unpacking safely needs Python 3.11.4 or newer. Unpack it yourself and fetch from the folder.")
    try:
        with tarfile.open(archive) as tar:
            wanted = [each for each in tar.getmembers() if _READ.fullmatch(each.name)]
            tar.extractall(folder, wanted, filter="data")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise FetchError(f"The package can't be unpacked: {error}.") from error


def _package_json(folder: Path) -> dict[str, Any]:
    path = folder / "package.json"
    if not path.is_file():
        return {}
    try:
        found: Any = parse_json(path.read_bytes())
    except ValueError as error:
        raise FetchError(f"package.json is not JSON: {error}.") from error
    texts = ("name", "version", "license")
    if not is_object(found) or not all(isinstance(found.get(key, ""), str) for key in texts):
        raise FetchError("package.json is not that of a package.")
    return found


def _release(folder: Path, source: str, package: dict[str, Any]) -> Release:
    """The schemas of a package, of its `schema/`, or of a folder like that."""
    home = next((each for each in (folder / "schema", folder) if find_files(each)), None)
    if home is None:
        raise FetchError(f"There is no schema in {source}; expected one of {', '.join(PLACES)}.")
    files = sorted(find_files(home).values())
    for path in sorted(home.rglob("schema*.json")):
        file = path.relative_to(home).as_posix()
        if file not in files and "node_modules" not in path.parts:
            raise FetchError(f"{source} has a schema that no profile is made of, {file}. Teach codegen.profiles first.")
    text = next((each.read_bytes() for each in (folder / "LICENSE", home / "LICENSE") if each.is_file()), None)
    schemas = {file: (home / file).read_bytes() for file in files}
    return Release(source, package.get("version", ""), package.get("license", ""), text, schemas)
