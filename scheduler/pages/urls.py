"""URLs of the overview and of the pages of schedules, workflows and Executions."""

from django.contrib.auth.decorators import login_not_required
from django.urls import include, path, register_converter
from django.urls.converters import StringConverter

from scheduler.pages import (
    alerts,
    calendars,
    charts,
    executions,
    finder,
    monitor,
    queues,
    run_again,
    run_list,
    saved_views,
    schedule_actions,
    schedule_edit,
    schedules,
    tasks,
    undo,
    workers,
    workflow_actions,
    workflow_edit,
    workflow_run,
    workflow_runs,
    workflows,
)
from scheduler.states import WorkflowStatus


class NameConverter(StringConverter):
    """The name of a worker or of a role, with a slash too; PostgreSQL has no NUL in texts."""

    regex = r"[^\x00]{1,200}"


register_converter(NameConverter, "name")

PAUSE, RESUME, DRAIN = ({"verb": verb} for verb in ("pause", "resume", "drain"))
SCHEDULES_OF_TASK = "tasks/<str:task_id>/schedules"
SCHEDULE = "schedules/<uuid:schedule_id>"
WORKFLOW = "workflows/<uuid:workflow_id>"
RUN = f"{WORKFLOW}/runs/<uuid:run_id>"
ACTIVE, PAUSED = {"status": WorkflowStatus.ACTIVE}, {"status": WorkflowStatus.PAUSED}
EXECUTION = "executions/<uuid:execution_id>"


def live(name: str) -> dict[str, str]:
    """The argument that makes a view render the part of its page that is refreshed."""
    return {"template": f"{name}_live.html"}


namespaced = [
    path("tasks", tasks.tasks, name="tasks"),
    path("tasks/<str:task_id>", tasks.task, name="task"),
    path(f"{SCHEDULES_OF_TASK}/pause", tasks.act_on_schedules, PAUSE, name="task-pause-schedules"),
    path(f"{SCHEDULES_OF_TASK}/resume", tasks.act_on_schedules, RESUME, name="task-resume-schedules"),
    path("schedules", schedules.schedules, name="schedules"),
    path("schedules/live", schedules.schedules, live("schedules"), name="schedules-live"),
    path("schedules/new", schedule_edit.edit, name="new-schedule"),
    path("schedules/preview", schedule_edit.preview, name="new-schedule-preview"),
    path(SCHEDULE, schedules.schedule, name="schedule"),
    path(f"{SCHEDULE}/live", schedules.schedule, live("schedule"), name="schedule-live"),
    path(f"{SCHEDULE}/edit", schedule_edit.edit, name="schedule-edit"),
    path(f"{SCHEDULE}/preview", schedule_edit.preview, name="schedule-preview"),
    path(f"{SCHEDULE}/run", schedule_actions.run, name="schedule-run"),
    path(f"{SCHEDULE}/pause", schedule_actions.pause, name="schedule-pause"),
    path(f"{SCHEDULE}/resume", schedule_actions.resume, name="schedule-resume"),
    path(f"{SCHEDULE}/delete", schedule_actions.delete, name="schedule-delete"),
    path("undo/<uuid:deletion_id>", undo.undo, name="undo"),
    path("alerts", alerts.alerts, name="alerts"),
    path("alerts/new", alerts.new, name="alerts-new"),
    path("alerts/seen", alerts.mark_seen, name="alerts-seen"),
    path("calendars", calendars.calendars, name="calendars"),
    path("calendars/new", calendars.calendar, name="new-calendar"),
    path("calendars/<uuid:calendar_id>", calendars.calendar, name="calendar"),
    path("calendars/<uuid:calendar_id>/delete", calendars.delete, name="calendar-delete"),
    path("queues/<name:role>/live", queues.queue, live("queue"), name="queue-live"),
    path("queues/<name:role>/pause", queues.act, PAUSE, name="queue-pause"),
    path("queues/<name:role>/resume", queues.act, RESUME, name="queue-resume"),
    path("queues/<name:role>", queues.queue, name="queue"),
    path("workers/<name:name>/live", workers.worker, live("worker"), name="worker-live"),
    path("workers/<name:name>/drain", workers.act, DRAIN, name="worker-drain"),
    path("workers/<name:name>/resume", workers.act, RESUME, name="worker-resume"),
    path("workers/<name:name>", workers.worker, name="worker"),
    path("workflows", workflows.workflows, name="workflows"),
    path("workflows/runs", workflow_runs.workflow_runs, name="workflow-runs"),
    path(
        "workflows/runs/live",
        workflow_runs.workflow_runs,
        live("workflow_runs"),
        name="workflow-runs-live",
    ),
    path("workflows/live", workflows.workflows, live("workflows"), name="workflows-live"),
    path("workflows/new", workflow_edit.edit, name="new-workflow"),
    path("workflows/preview", workflow_edit.preview, name="new-workflow-preview"),
    path(WORKFLOW, workflows.workflow, name="workflow"),
    path(f"{WORKFLOW}/live", workflows.workflow, live("workflow"), name="workflow-live"),
    path(f"{WORKFLOW}/edit", workflow_edit.edit, name="workflow-edit"),
    path(f"{WORKFLOW}/preview", workflow_edit.preview, name="workflow-preview"),
    path(f"{WORKFLOW}/run", workflow_actions.run, name="workflow-run"),
    path(f"{WORKFLOW}/pause", workflow_actions.set_status, PAUSED, name="workflow-pause"),
    path(f"{WORKFLOW}/activate", workflow_actions.set_status, ACTIVE, name="workflow-activate"),
    path(f"{WORKFLOW}/delete", workflow_actions.delete, name="workflow-delete"),
    path(RUN, workflow_run.workflow_run, name="workflow-run-page"),
    path(f"{RUN}/live", workflow_run.workflow_run, live("workflow_run"), name="workflow-run-live"),
    path(f"{RUN}/resume", workflow_actions.change_run, RESUME, name="run-resume"),
    path(f"{RUN}/cancel", workflow_actions.change_run, {"verb": "cancel"}, name="run-cancel"),
    path("runs", run_list.runs, name="runs"),
    path("runs/live", run_list.live, name="runs-live"),
    path("runs/count", run_list.count, name="runs-count"),
    path("runs.csv", run_list.as_csv, name="runs-csv"),
    path("runs/<uuid:run_id>/again", run_again.run_again, name="run-again"),
    path("runs/act", run_list.act, name="runs-act"),
    path("runs/views", saved_views.save, name="save-view"),
    path("runs/views/<uuid:view_id>/delete", saved_views.delete, name="delete-view"),
    path("executions", run_list.old_list, name="executions"),
    path(EXECUTION, executions.execution, name="execution"),
    path(f"{EXECUTION}/log", executions.execution_log, name="execution-log"),
    path(f"{EXECUTION}/live", executions.execution, live("execution"), name="execution-live"),
    path(f"{EXECUTION}/cancel", executions.cancel, name="execution-cancel"),
]

urlpatterns = [
    path("monitor/live", login_not_required(monitor.live), name="monitor-live"),
    path("", monitor.page, name="monitor"),
    path("search", finder.results, name="search"),
    path("monitor/charts", charts.charts, name="monitor-charts"),
    path("", include((namespaced, "scheduler"))),
]
