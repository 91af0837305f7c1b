"""For agents: an ASGI application."""
