"""The pages of offices, jobs and batches: each view parses, calls a verb or a query, and renders."""
