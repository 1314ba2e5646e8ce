"""Schemathesis against the running system: every operation, as its owner, as staff and as nobody."""
