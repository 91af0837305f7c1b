"""Checks whether a client keeps to the protocol: the command `acp-bindings check-client`."""
