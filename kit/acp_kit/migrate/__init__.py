"""Moves programs from the official SDK, agent-client-protocol, to this package.

    python -m acp_kit.migrate PATH... [--write]

It needs the extra: `pip install 'acp-bindings[migrate]'`. `rewrite` does the same with the text of one file.
"""
