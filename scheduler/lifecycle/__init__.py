"""Every transition of schedules, workflows and their runs, as verbs. Views, beat and the admin call these.

`schedules` are created, changed, paused, resumed, removed; `firing` fires what is due; `manual` runs a
Task by hand; `workflows` are saved and registered; `runs` are started, settled and resumed.
"""
