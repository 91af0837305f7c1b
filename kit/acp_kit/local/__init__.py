"""Files and commands of this machine, for agents and clients. `acp_kit.client` exports `Workspace` and `Terminals`."""
