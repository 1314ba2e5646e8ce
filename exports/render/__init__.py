"""Draws event logs, reads video files, and encodes both as MP4 or as one PNG. Knows no database."""
