from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SchedulerConfig(AppConfig):
    name = "scheduler"
    verbose_name = _("Schedules, workflows, step queues")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from jobs import catalogue, errors
        from jobs import lifecycle as engine
        from jobs import metrics as jobs_metrics
        from jobs.states import Trigger
        from scheduler import error_texts, metrics
        from scheduler.schedules import failing
        from scheduler.sql import statements
        from scheduler.steps import (
            libraries,
            tasks,  # noqa: F401 (registers the Tasks of step queues)
        )
        from scheduler.steps import lifecycle as steps
        from scheduler.steps import metrics as step_metrics

        metrics.register()
        jobs_metrics.register("step_queues", step_metrics.collect)
        errors.register_texts(error_texts.TEXTS)
        errors.register_problem_codes(error_texts.PROBLEM_CODES)
        catalogue.sources.append(libraries.registrations)
        engine.on_end(Trigger.STEP, steps.advance)
        engine.on_end(Trigger.SCHEDULE, failing.count_run, statements.HAS_FAILURES)
