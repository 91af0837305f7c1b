"""Parts of acp_kit that need further packages."""

from __future__ import annotations

from importlib.util import find_spec


def require(part: str, extra: str, *modules: str) -> None:
    """Check that the packages of an extra are installed.

    Args:
        part: what needs them.
        extra: the name of the extra.
        *modules: the packages. They are not imported.

    Raises:
        ImportError: one is missing. The message says how to install the extra.
    """
    for module in modules:
        if find_spec(module) is None:
            install = f"pip install 'acp-bindings[{extra}]'"
            raise ImportError(f"{part} needs the package {module}, which you get with: {install}", name=module)
