"""The REST API of replays, exports and dead letters, spelt as the seed spells it: camelCase."""
