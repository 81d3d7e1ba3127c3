"""The studio's server: shows a session in browsers and relays client requests to it."""
