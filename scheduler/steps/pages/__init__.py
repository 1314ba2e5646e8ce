"""The pages of step queues: each view parses, calls a verb or a query, and renders."""
