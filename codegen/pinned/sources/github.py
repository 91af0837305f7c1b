"""Downloads schemas from a release of upstream's repository on GitHub.

Upstream tags the schemas of each version of the protocol separately, as `schema-v1.21.0` and `schema-v2.0.0-alpha.3`,
and attaches the files of `schema/v1/` or `schema/v2/` to the release without their folder. So the tag decides which
version an asset such as `schema.json` belongs to, and a release covers only one version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from codegen.errors import FetchError
from codegen.nodes import is_array, is_object
from codegen.pinned.pins import parse_json, sha256
from codegen.pinned.profiles import PLACES, places_of
from codegen.pinned.sources.download import download
from codegen.pinned.sources.release import Release, check_known

_REPOSITORY = "agentclientprotocol/agent-client-protocol"
_TAG = re.compile(r"schema-v(?P<version>(?P<protocol>[0-9]+)\.[A-Za-z0-9.+-]+)")


@dataclass(frozen=True)
class _Asset:
    """A file of a release.

    Attributes:
        id: GitHub's number for it.
        name: its bare name.
        digest: such as `sha256:...`; None if it was uploaded before June 2025, when GitHub introduced digests.
    """

    id: int
    name: str
    digest: str | None


def from_github(tag: str) -> Release:
    """Download the schemas of the release with a tag."""
    parts = _TAG.fullmatch(tag)
    if parts is None:
        raise FetchError(f"{tag!r} is not a tag of upstream's schemas. Give one, such as github:schema-v1.21.0.")
    release = f"the release {tag} of {_REPOSITORY}"
    found = {f"v{parts['protocol']}/{each.name}": each for each in _assets(tag, release) if _is_schema(each)}
    if not found:
        raise FetchError(
            f"There is no schema in {release}. Upstream attaches them some time after the release; try again later."
        )
    check_known(f"github:{tag}", sorted(found), PLACES)
    schemas = {file: _content(asset, f"{file} of {tag}") for file, asset in sorted(found.items())}
    return Release(f"github:{tag}", parts["version"], "", None, schemas, places_of(int(parts["protocol"])))


def _is_schema(asset: _Asset) -> bool:
    return asset.name.startswith("schema") and asset.name.endswith(".json")


def _assets(tag: str, release: str) -> list[_Asset]:
    content = download(f"/repos/{_REPOSITORY}/releases/tags/{tag}", release, "application/vnd.github+json")
    try:
        found: Any = parse_json(content)
    except ValueError as error:
        raise FetchError(
            f"GitHub's answer about {release} is not JSON: it begins with {content[:30]!r}. Try again later."
        ) from error
    assets = found.get("assets") if is_object(found) else None
    if not is_array(assets):
        raise FetchError(f"GitHub's answer about {release} has no list of assets. Try again later.")
    return [_asset(each, release) for each in assets]


def _asset(entry: Any, release: str) -> _Asset:
    if is_object(entry):
        number, name, digest = entry.get("id"), entry.get("name"), entry.get("digest")
        if isinstance(number, int) and isinstance(name, str) and isinstance(digest, str | None):
            return _Asset(number, name, digest)
    raise FetchError(
        f"GitHub's answer about {release} has an asset without a valid id, name or digest. Try again later."
    )


def _content(asset: _Asset, what: str) -> bytes:
    # Asked for by its id instead of the URL in the answer, so that the token is sent only to the API.
    content = download(f"/repos/{_REPOSITORY}/releases/assets/{asset.id}", what, "application/octet-stream")
    found = f"sha256:{sha256(content)}"
    if asset.digest is not None and asset.digest != found:
        raise FetchError(f"{what} has the hash {found}, but GitHub announced {asset.digest}. Fetch it again.")
    return content
