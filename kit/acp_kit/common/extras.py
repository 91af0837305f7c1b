"""Parts of acp_kit that need further packages, which an extra installs."""

from __future__ import annotations

from collections.abc import Iterable


def require(part: str, extra: str, *packages: str) -> None:
    """Check that the packages of an extra are installed.

    Args:
        part: what needs them, for the message.
        extra: the name of the extra.
        *packages: the names to import them by. They are not imported.

    Raises:
        ImportError: if one is missing. The message says how to install the extra.
    """
    if package := first_missing(packages):
        install = f"pip install 'acp-bindings[{extra}]'"
        raise ImportError(f"{part} needs the package {package}, which you get with: {install}", name=package)


def first_missing(packages: Iterable[str]) -> str | None:
    """Return the first of these packages that isn't installed."""
    # Imported on use, because every package of the kit imports this module.
    from importlib.util import find_spec

    return next((package for package in packages if find_spec(package) is None), None)
