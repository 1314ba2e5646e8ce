"""The worker's main process: renews the leases of what its pool runs, and ends what must not go on.

One thread does it (`heart.py`), apart from Celery's event loop and from its reconnects. A worker that
cannot renew kills what it runs before anybody else may start it. `request.py` sees a pool process die
or overrun, `control.py` hears a cancel, `orphans.py` finds what a dead pool process left behind.
"""
