"""Registering Tasks: what `dure.task` declares, the engine and Celery know."""

from celery import current_app

from dure import task
from jobs import registry
from jobs.runner import EngineTask


def test_a_declared_task_is_known_to_the_engine_and_to_celery():
    @task("registry.declared", role="Designer", autoretry_for=(ValueError,), retry_jitter=True)
    def body(ctx, number: int = 1) -> None: ...

    entry = registry.find("registry.declared")
    assert (entry.definition.function, entry.role, entry.autoretry_for) == (body, "Designer", (ValueError,))
    assert entry.schema["properties"]["number"]["default"] == 1
    celery_task = current_app.tasks["registry.declared"]
    assert isinstance(celery_task, EngineTask)
    assert celery_task.autoretry_for == (ValueError,)
