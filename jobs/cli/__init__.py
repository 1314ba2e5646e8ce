"""What the commands for operators share: their base, their filters, their tables and their confirmation.

The commands select rows, call the verbs that the API calls, and print what happened.
"""
