"""Turns replays into MP4 and thumbnails: uploads, export jobs, and the Redis Streams around them."""
