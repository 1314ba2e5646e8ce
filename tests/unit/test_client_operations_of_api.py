"""The client has a method for each operation of the API, except those that are left out on purpose."""

import inspect

import pytest

import dure
from dure.async_client import AsyncClient
from tests.openapi import document

# The operations whose method has another name.
METHODS = {
    "batches": "list_batches",
    "batch": "get_batch",
    "calendar": "show_calendar",
    "calendars": "list_calendars",
    "cancel": "cancel_job",
    "cancel_all": "cancel_jobs",
    "change_config": "change_scheduler_config",
    "config": "get_scheduler_config",
    "deliveries": "list_deliveries",
    "download": "download_export",
    "enqueue": "enqueue_step",
    "execute": "execute_workflow",
    "execution": "show_execution",
    "executions": "list_executions",
    "explain": "explain_job",
    "export": "export_mp4 export_webm export_gif export_thumbnail",
    "export_links": "list_export_links",
    "exports": "list_exports",
    "follow_events": "list_events",
    "job": "get_job",
    "jobs": "list_jobs",
    "libraries": "list_libraries",
    "log": "execution_log job_log",
    "members": "list_members",
    "offices": "list_offices",
    "queue": "show_queue",
    "queue_events": "list_queue_events",
    "queues": "list_queues",
    "replay": "get_replay",
    "replays": "list_replays",
    "retry": "retry_job",
    "roles": "list_roles",
    "schedule": "show_schedule",
    "schedules": "list_schedules",
    "send_again": "send_delivery_again",
    "set_priority": "set_job_priority",
    "step": "show_step",
    "steps": "list_steps list_unlinked_steps",
    "submit": "submit_jobs",
    "task": "get_task",
    "tasks": "list_tasks",
    "test_webhook": "send_test_message",
    "turns": "list_turns",
    "webhook": "get_webhook",
    "webhooks": "list_webhooks",
    "workflow": "show_workflow",
    "workflow_run": "show_run",
    "workflow_runs": "list_runs",
    "workflows": "list_workflows",
}
# What several operations share, or none has.
HELPERS = {
    "close",
    "follow",
    "office_id",
    "pause_workflow",
    "refresh",
    "resume_workflow",
    "submit_batch",
    "wait",
}
ABSENT = {
    "change_office": "an office is set up on the pages, once",
    "create_office": "an office is set up on the pages, once",
    "create_ws_ticket": "for browsers, whose sockets cannot send a token",
    "delete_office": "an office is set up on the pages, once",
    "discard_dead_letter": "for the operators of exports",
    "download_execution_log": "`log` has the lines",
    "download_job_log": "`log` has the lines",
    "download_shared_export": "for people without an account",
    "execute_due": "beat does so",
    "execute_due_now": "beat does so",
    "explain_problem": "`APIError` has the text",
    "get_dead_letter": "for the operators of exports",
    "get_job_queue_stats": "figures for monitoring, at /metrics too",
    "get_office": "`offices` has all of it",
    "get_storage_usage": "figures for monitoring, at /metrics too",
    "list_dead_letters": "for the operators of exports",
    "monitor": "figures for monitoring, at /metrics too",
    "pause_schedules": "`pause_schedule` for each of `schedules(task_id=…)`",
    "process_jobs": "the engine does so",
    "register_runs": "beat does so",
    "replace_schedule": "`change_schedule` changes what is given",
    "republish_dead_letter": "for the operators of exports",
    "resume_schedules": "`resume_schedule` for each of `schedules(task_id=…)`",
    "show_library": "`libraries` has all of it",
    "show_unlinked_step": "`steps` lists them",
}


def methods_of(client: type) -> set[str]:
    return {name for name in dir(client) if not name.startswith("_")}


def operations_of(method: str) -> set[str]:
    return set(METHODS.get(method, method).split())


def test_the_client_lacks_only_what_is_left_out_on_purpose() -> None:
    operations = {each["operationId"] for path in document()["paths"].values() for each in path.values()}
    covered = set().union(*map(operations_of, methods_of(AsyncClient) - HELPERS))
    assert operations - covered == set(ABSENT)
    assert covered - operations == set()


@pytest.mark.parametrize("name", sorted(methods_of(AsyncClient) | methods_of(dure.Client)))
def test_both_clients_have_the_method_with_its_description(name: str) -> None:
    method, blocking = getattr(AsyncClient, name), getattr(dure.Client, name)
    assert inspect.signature(method) == inspect.signature(blocking)
    assert blocking.__doc__ == method.__doc__
