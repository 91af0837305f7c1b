"""Downloads schemas from an npm package. Uses the npm client, so that its settings apply."""

from __future__ import annotations

import gzip
import re
import subprocess
import tarfile
import tempfile
import zlib
from io import BytesIO
from pathlib import Path

from codegen.errors import FetchError
from codegen.pinned.release import Release, read_package_json, read_release

_PACKAGE = re.compile(r"(?P<name>(@[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*)(@(?P<wanted>[\w][\w.+-]*))?")
SECONDS = 120
MAX_BYTES = 16 * 2**20
MAX_UNPACKED = 4 * MAX_BYTES
_READ = re.compile(r"package/(schema/.*|package\.json|LICENSE)")
# By default, npm waits 70 seconds before it says that it can't reach the registry.
_RETRY = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")
_UNKNOWN = {"E404", "ETARGET", "EINVALIDTAGNAME"}


def read_npm_package(spec: str) -> Release:
    """Read the schemas of a package by its name and its version or tag."""
    wanted = _PACKAGE.fullmatch(spec)
    if wanted is None:
        raise FetchError(f"{spec!r} is not an npm package. Give npm:<package>@<version or tag>.")
    with tempfile.TemporaryDirectory(prefix="acp-fetch-") as name:
        folder = Path(name)
        _unpack(_download(spec, folder), folder)
        package = read_package_json(folder / "package")
        if package.get("name") != wanted["name"]:
            raise FetchError(f"npm returned the package {package.get('name')!r} for {spec}. Check the settings of npm.")
        return read_release(folder / "package", f"npm:{package['name']}@{package.get('version', '')}", package)


def _download(spec: str, folder: Path) -> Path:
    """Run `npm pack` in a folder, and return the archive that it wrote."""
    command = ["npm", "pack", "--ignore-scripts", "--silent", "--loglevel=error", *_RETRY, spec]
    try:
        process = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False, timeout=SECONDS
        )
    except FileNotFoundError as error:
        raise FetchError("npm is not installed. Install Node.js, or fetch from a folder.") from error
    except subprocess.TimeoutExpired as error:
        raise FetchError(
            f"npm did not download {spec} within {SECONDS} seconds. Try again later, or fetch from a folder."
        ) from error
    if process.returncode:
        raise FetchError(_explain_failure(spec, process.stderr))
    archives = list(folder.glob("*.tgz"))
    if len(archives) != 1:
        raise FetchError(
            f"npm wrote {len(archives)} archives for {spec}, expected one. Try again, or fetch from a folder."
        )
    _check_size("packed", archives[0].stat().st_size, MAX_BYTES)
    return archives[0]


def _explain_failure(spec: str, text: str) -> str:
    """Return a sentence about an error of npm."""
    match = re.search(r"^npm (?:error|ERR!) code (\w+)", text, re.MULTILINE)
    code = match[1] if match else "no code"
    if code in _UNKNOWN:
        return f"npm has no {spec}. Check the name and the version."
    return f"npm could not get {spec} ({code}). Run `npm pack {spec}` to see why, or fetch from a folder."


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack the files that are needed. Paths outside of the folder are refused."""
    if not hasattr(tarfile, "data_filter"):
        raise FetchError(
            "Unpacking safely needs Python 3.11.4 or newer. Unpack the package yourself and fetch from its folder."
        )
    try:
        with gzip.open(archive) as packed:
            content = packed.read(MAX_UNPACKED + 1)
        _check_size("unpacked", len(content), MAX_UNPACKED)
        with tarfile.open(fileobj=BytesIO(content)) as tar:
            wanted = [member for member in tar.getmembers() if _READ.fullmatch(member.name)]
            _check_size("unpacked", sum(member.size for member in wanted), MAX_UNPACKED)  # sparse files are larger
            tar.extractall(folder, wanted, filter="data")
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise FetchError(f"The package can't be unpacked: {error}. Fetch it again.") from error


def _check_size(what: str, size: int, limit: int) -> None:
    if size > limit:
        raise FetchError(f"The {what} package has more than {limit} bytes, too many for schemas. Check its name.")
