"""Encoders behind an HTTP server."""
