"""Parts of acp_kit that need further packages."""

from __future__ import annotations

from collections.abc import Iterable


def require(part: str, extra: str, *modules: str) -> None:
    """Check that the packages of an extra are installed.

    Args:
        part: what needs them.
        extra: the name of the extra.
        *modules: the packages. They are not imported.

    Raises:
        ImportError: one is missing. The message says how to install the extra.
    """
    if module := first_missing(modules):
        install = f"pip install 'acp-bindings[{extra}]'"
        raise ImportError(f"{part} needs the package {module}, which you get with: {install}", name=module)


def first_missing(modules: Iterable[str]) -> str | None:
    """Return the first of these packages that isn't installed."""
    from importlib.util import find_spec  # every package of the kit would wait for it

    return next((module for module in modules if find_spec(module) is None), None)
