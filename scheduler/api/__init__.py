"""The REST API of schedules, Executions, workflows and the monitor. Each view calls a verb and renders."""
