"""Moves programs from the official SDK, agent-client-protocol, to this package.

    python -m acp_migrate PATH... [--write]

It needs the extra: `pip install 'acp-bindings[migrate]'`.
"""
