"""What the main process of a worker tells its pool processes about bursts."""

import os

from jobs.worker import bursts


def test_a_worker_that_stops_stops_no_other_that_was_forked_from_the_same_process(monkeypatch):
    for name in ("_reads", "_writes", "shared"):
        monkeypatch.setattr(bursts, name, getattr(bursts, name))
    child = os.fork()
    if child == 0:
        bursts.open_pipe()
        bursts.stop()
        os._exit(int(not bursts.shared.is_stopped))
    assert os.waitpid(child, 0)[1] == 0
    assert not bursts.shared.is_stopped
