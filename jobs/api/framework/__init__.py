"""The API's manners: how requests are read and refused, whatever they are about.

Every refusal is `application/problem+json` (problems), a body is strict JSON (strict_json, parsing),
lists have pages (pagination) and known filters (filtering), a POST may be repeated safely
(idempotency), and who asks is known (authentication) and counted (throttling). Nothing here knows
a job.
"""
