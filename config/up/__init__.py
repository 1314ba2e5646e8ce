"""`make up`: from a clone to a running system, in the foreground, and to nothing again on Ctrl-C.

Nothing at import time here: `install` runs before any package is installed.
"""
