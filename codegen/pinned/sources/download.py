"""Downloads one file, with limits on time and size, and words every failure."""

from __future__ import annotations

from http.client import HTTPException, IncompleteRead
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from codegen.errors import FetchError

SECONDS = 30
MAX_BYTES = 16 * 2**20


def download(address: str, what: str) -> bytes | None:
    """Return the content at an address, following redirects; None if there is nothing.

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
