"""Looks at everything an installation depends on and says what to do: `manage.py doctor`.

One file for each subject. A check looks, then judges; what judges is a function of plain values. Nothing
here changes anything, asks for longer than a few seconds, or prints a secret.
"""
