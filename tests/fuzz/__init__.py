"""Schemathesis against the running system: every operation, as owner, as staff and anonymously."""
