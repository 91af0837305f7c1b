"""Checks whether a client follows the protocol: the command `acp-bindings check-client`."""
