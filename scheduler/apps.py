from django.apps import AppConfig


class SchedulerConfig(AppConfig):
    name = "scheduler"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from scheduler import metrics
        from scheduler.step_queues import wiring

        metrics.register()
        wiring.connect()
