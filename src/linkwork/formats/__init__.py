"""Formats: files that parts and scenes are read from and written to."""
