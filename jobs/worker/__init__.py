"""The worker's main process: renews the leases of its runs, and ends runs that must not continue.

`lease_keeper.py` is one thread, apart from Celery's event loop and from its reconnects. A worker that cannot
renew kills what it runs before another may start it. `request.py` sees a pool process die or run over its
time limit, `control.py` receives cancels, `drain.py` stops the worker from taking messages, and `bootstep.py`
starts all of it. `jobs/subprocesses/orphans.py` kills what a dead pool process left behind.
"""
