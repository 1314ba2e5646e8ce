"""Security tests, generated from the schema of the API: a new operation is covered by itself."""
