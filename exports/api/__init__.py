"""The REST API of replays, exports and dead letters, in the camelCase of the v1 contract."""
