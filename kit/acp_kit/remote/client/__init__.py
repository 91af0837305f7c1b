"""For clients: transports to agents behind a URL."""
