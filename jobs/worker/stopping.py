"""Whether this worker is being stopped, as Celery notes it."""

from celery.worker import state as worker_state


def has_begun() -> bool:
    return _is_set(worker_state.should_stop) or is_cold()


def is_cold() -> bool:
    """Whether it waits for its runs no longer: they are killed and released."""
    return _is_set(worker_state.should_terminate)


def _is_set(flag: object) -> bool:
    """Celery sets the exit code, which may be 0."""
    return flag is not None and flag is not False
