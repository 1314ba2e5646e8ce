"""What the commands for operators have in common: how they read, ask, show and end.

They choose rows, call the verbs that the API calls, and tell what became of it.
"""
