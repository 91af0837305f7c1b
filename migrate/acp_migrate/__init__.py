"""Moves programs from the official SDK, agent-client-protocol, to this package.

    acp-bindings migrate PATH... [--write]

It needs the extra: `pip install 'acp-bindings[migrate]'`.
"""
