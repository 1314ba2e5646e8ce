"""Executions and schedules on the command line; what all commands share is in jobs/cli."""
