"""Downloads schemas from a release of upstream's repository on GitHub.

Upstream tags the schemas of each version of the protocol separately, as `schema-v1.21.0` and `schema-v2.0.0-alpha.3`,
and attaches the files of `schema/v1/` or `schema/v2/` to the release without their folder. So the tag decides which
version a file such as `schema.json` belongs to, and a release covers only one version.
"""

from __future__ import annotations

import re
from http.client import HTTPException, IncompleteRead
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from codegen.errors import FetchError
from codegen.pinned.profiles import ONE_FILE, places_of
from codegen.pinned.release import MAX_BYTES, Release

SECONDS = 30
ADDRESS = "https://github.com"
_REPOSITORY = "agentclientprotocol/agent-client-protocol"
_TAG = re.compile(r"schema-v(?P<version>(?P<protocol>[0-9]+)\.[A-Za-z0-9.+-]+)")


def from_github(tag: str) -> Release:
    """Download the schemas of the release with a tag."""
    parts = _TAG.fullmatch(tag)
    if parts is None:
        raise FetchError(f"{tag!r} is not a tag of upstream's schemas. Give one, such as github:schema-v1.21.0.")
    places = places_of(int(parts["protocol"]))
    if not places:
        raise FetchError(f"{tag} has schemas without a profile. Add their version to codegen/pinned/profiles.py.")
    schemas: dict[str, bytes] = {}
    for file in places:
        if file != ONE_FILE:  # it was never attached to a release
            name = file.rpartition("/")[2]
            content = download(f"{ADDRESS}/{_REPOSITORY}/releases/download/{tag}/{name}", f"{file} of {tag}")
            schemas |= {file: content} if content is not None else {}
    if not schemas:
        raise FetchError(
            f"There is no release {tag} of {_REPOSITORY} with a schema. Check the tag, or try again later: upstream "
            "attaches the schemas some time after the release."
        )
    return Release(f"github:{tag}", parts["version"], "", None, schemas, places)


def download(address: str, what: str) -> bytes | None:
    """Return the content at an address, following redirects, with limits on time and size; None if there is nothing.

    Args:
        address: the address.
        what: the name of the content in error messages.

    Raises:
        FetchError: the content could not be downloaded completely.
    """
    try:
        with urlopen(address, timeout=SECONDS) as response:
            content: bytes = response.read(MAX_BYTES + 1)
            if response.length and len(content) <= MAX_BYTES:
                raise IncompleteRead(content, response.length)
    except HTTPError as error:
        with error:
            if error.code == 404:
                return None
        raise FetchError(f"GitHub answered {error.code} when asked for {what}. Try again later.") from error
    except IncompleteRead as error:
        size = len(error.partial)
        raise FetchError(f"The download of {what} ended after {size} bytes. Fetch it again.") from error
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise FetchError(f"{what} can't be downloaded ({reason}). Fetch from npm or a folder.") from error
    if len(content) > MAX_BYTES:
        raise FetchError(f"GitHub sent more than {MAX_BYTES} bytes for {what}, too many for a schema.")
    return content
