"""The engine's SQL: `engine.sql` holds the functions, `statements.py` everything else, by name."""
