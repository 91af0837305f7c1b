"""Checks whether clients and agents follow the protocol: the commands `check-client` and `check-agent`."""
