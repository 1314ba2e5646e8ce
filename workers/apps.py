import gc

from django.apps import AppConfig


class WorkersConfig(AppConfig):
    name = "workers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # No app after this one loads much, and what is loaded stays for the life of the process. A full
        # collection, which takes a tenth of a second with it, passes it by.
        gc.freeze()
        # config/settings.py switched it off.
        gc.enable()
