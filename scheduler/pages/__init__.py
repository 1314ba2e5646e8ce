"""The monitor, and the pages of schedules, workflows and Executions."""
