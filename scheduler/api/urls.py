"""Every address of schedules, Executions, workflows and the overview's data, below /api/."""

from django.urls import path

from scheduler.api import (
    calendars,
    executions,
    monitor,
    run_logs,
    runs,
    schedules,
    schedules_of_task,
    triggers,
    workflows,
)

urlpatterns = [
    path("tasks/<str:task_id>/run", executions.RunTaskView.as_view(), name="run-task"),
    path("schedules", schedules.SchedulesView.as_view(), name="schedules"),
    path("schedules/pause", schedules_of_task.PauseSchedulesView.as_view(), name="pause-schedules"),
    path("schedules/resume", schedules_of_task.ResumeSchedulesView.as_view(), name="resume-schedules"),
    path("schedules/preview", schedules.PreviewView.as_view(), name="preview-schedule"),
    path("schedules/<uuid:schedule_id>", schedules.OneScheduleView.as_view(), name="schedule"),
    path("schedules/<uuid:schedule_id>/pause", schedules.PauseScheduleView.as_view(), name="pause-schedule"),
    path(
        "schedules/<uuid:schedule_id>/resume",
        schedules.ResumeScheduleView.as_view(),
        name="resume-schedule",
    ),
    path("schedules/<uuid:schedule_id>/next", schedules.NextTimesView.as_view(), name="next-times"),
    path("schedules/<uuid:schedule_id>/turns", schedules.OccurrencesView.as_view(), name="turns"),
    path("calendars", calendars.CalendarsView.as_view(), name="calendars"),
    path("calendars/<uuid:calendar_id>", calendars.OneCalendarView.as_view(), name="calendar"),
    path("executions", executions.ExecutionsView.as_view(), name="executions"),
    path("executions/<uuid:execution_id>", executions.OneExecutionView.as_view(), name="execution"),
    path("executions/<uuid:execution_id>/logs", run_logs.ExecutionLogView.as_view(), name="execution-log"),
    path(
        "executions/<uuid:execution_id>/logs.txt",
        run_logs.ExecutionLogFileView.as_view(),
        name="execution-log-file",
    ),
    path(
        "executions/<uuid:execution_id>/cancel",
        executions.CancelExecutionView.as_view(),
        name="cancel-execution",
    ),
    path("workflows", workflows.WorkflowsView.as_view(), name="workflows"),
    path("workflows/<uuid:workflow_id>", workflows.OneWorkflowView.as_view(), name="workflow"),
    path("workflows/<uuid:workflow_id>/runs", runs.RunsView.as_view(), name="runs"),
    path("workflows/<uuid:workflow_id>/runs/<uuid:run_id>", runs.OneRunView.as_view(), name="run"),
    path(
        "workflows/<uuid:workflow_id>/runs/<uuid:run_id>/resume",
        runs.ResumeRunView.as_view(),
        name="resume-run",
    ),
    path(
        "workflows/<uuid:workflow_id>/runs/<uuid:run_id>/cancel",
        runs.CancelRunView.as_view(),
        name="cancel-run",
    ),
    path("workflow/execute", runs.ExecuteView.as_view(), name="execute-workflow"),
    path("scheduler/cron", triggers.CronView.as_view(), name="scheduler-cron"),
    path("scheduler/execute", triggers.ExecuteDueView.as_view(), name="scheduler-execute"),
    path("scheduler/monitor", monitor.MonitorView.as_view(), name="scheduler-monitor"),
]
