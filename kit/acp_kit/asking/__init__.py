"""The command `ask`: one prompt to an agent."""
