"""Records the messages between an editor and an agent, and shows and redacts recordings.

These are the commands `acp-bindings tap`, `show` and `redact`.
"""
