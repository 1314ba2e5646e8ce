"""The REST API of offices and jobs: each view reads the request, calls one verb, and renders."""
