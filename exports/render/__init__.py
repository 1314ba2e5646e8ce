"""Draws event logs, reads videos, and encodes both as MP4 or as a PNG. Uses no database."""
