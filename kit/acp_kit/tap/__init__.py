"""Records what an editor and an agent say to each other, and shows and redacts recordings.

These are the commands `acp-bindings tap`, `show` and `redact`.
"""
