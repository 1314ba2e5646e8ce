"""The parts that the commands for operators share: base, filters, tables and confirmation.

The commands select rows, call the verbs that the API calls, and print what happened.
"""
