"""The parts of agents and editors around the protocol: sessions, permissions, terminals, files, histories.

Each part works alone, beside hand-written code, and uses ordinary messages only.
"""
