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
    path("tasks/<str:task_id>/run", executions.RunTaskView.as_view()),
    path("schedules", schedules.SchedulesView.as_view()),
    path("schedules/pause", schedules_of_task.PauseSchedulesView.as_view()),
    path("schedules/resume", schedules_of_task.ResumeSchedulesView.as_view()),
    path("schedules/preview", schedules.PreviewView.as_view()),
    path("schedules/<uuid:schedule_id>", schedules.OneScheduleView.as_view()),
    path("schedules/<uuid:schedule_id>/pause", schedules.PauseScheduleView.as_view()),
    path("schedules/<uuid:schedule_id>/resume", schedules.ResumeScheduleView.as_view()),
    path("schedules/<uuid:schedule_id>/next", schedules.NextTimesView.as_view()),
    path("schedules/<uuid:schedule_id>/turns", schedules.OccurrencesView.as_view()),
    path("calendars", calendars.CalendarsView.as_view()),
    path("calendars/<uuid:calendar_id>", calendars.OneCalendarView.as_view()),
    path("executions", executions.ExecutionsView.as_view()),
    path("executions/<uuid:execution_id>", executions.OneExecutionView.as_view()),
    path("executions/<uuid:execution_id>/logs", run_logs.ExecutionLogView.as_view()),
    path("executions/<uuid:execution_id>/logs.txt", run_logs.ExecutionLogFileView.as_view()),
    path("executions/<uuid:execution_id>/cancel", executions.CancelExecutionView.as_view()),
    path("workflows", workflows.WorkflowsView.as_view()),
    path("workflows/<uuid:workflow_id>", workflows.OneWorkflowView.as_view()),
    path("workflows/<uuid:workflow_id>/runs", runs.RunsView.as_view()),
    path("workflows/<uuid:workflow_id>/runs/<uuid:run_id>", runs.OneRunView.as_view()),
    path("workflows/<uuid:workflow_id>/runs/<uuid:run_id>/resume", runs.ResumeRunView.as_view()),
    path("workflows/<uuid:workflow_id>/runs/<uuid:run_id>/cancel", runs.CancelRunView.as_view()),
    path("workflow/execute", runs.ExecuteView.as_view()),
    path("scheduler/cron", triggers.CronView.as_view()),
    path("scheduler/execute", triggers.ExecuteDueView.as_view()),
    path("scheduler/monitor", monitor.MonitorView.as_view()),
]
