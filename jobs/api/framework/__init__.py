"""The parts that all endpoints of the API share; none depends on jobs.

Errors are `application/problem+json` (problem_details), bodies are strict JSON (strict_json, parsing), lists
have pages (lists, pagination) and known filters (filtering), a POST can be repeated safely (idempotency), and
clients are authenticated (authentication) and rate-limited (throttling).
"""
