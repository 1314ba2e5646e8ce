"""The pages of replays, exports and dead letters: a view parses, calls a verb or a reading, renders."""
