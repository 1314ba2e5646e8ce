"""Runs the sweeps for processes under test: `python -m tests.concurrency.sweep_process`."""

import logging
import time

log = logging.getLogger(__name__)


def main() -> None:
    from django.conf import settings
    from django.db import connection

    from jobs import sweeps

    print("sweeps", flush=True)
    while True:
        try:
            sweeps.sweep_once()
        except Exception as error:
            log.warning("a sweep failed: %s", error)
            connection.close()
        time.sleep(settings.DURE_SWEEP_SECONDS)


if __name__ == "__main__":
    import django

    django.setup()
    main()
