"""What agents and editors write around the protocol: sessions, permissions, terminals, files, history.

Each submodule works alone, next to hand-written code, and everything that it does can be seen as ordinary messages.
"""
