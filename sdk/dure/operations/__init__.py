"""The operations of the API. Each class has those of one subject; `AsyncClient` has them all."""
