"""The client's side: transports to agents behind a URL."""
