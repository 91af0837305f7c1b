"""Parts of acp_kit that need further packages."""

from __future__ import annotations

from importlib import import_module


def require(part: str, extra: str, *modules: str) -> None:
    """Check that the packages of an extra are installed.

    Args:
        part: what needs them.
        extra: the name of the extra.
        *modules: the modules to import.

    Raises:
        ImportError: one is missing. The message says how to install the extra.
    """
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            install = f"pip install 'acp-bindings[{extra}]'"
            raise ImportError(
                f"{part} needs the package {module}, which you get with: {install}", name=module
            ) from None
