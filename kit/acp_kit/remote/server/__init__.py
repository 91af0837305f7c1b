"""The agent's side: an ASGI application."""
