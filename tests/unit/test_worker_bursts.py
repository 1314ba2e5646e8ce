"""What the main process of a worker and its pool processes tell each other about bursts."""

import os

import pytest

from jobs.worker import bursts


@pytest.fixture
def pipe(monkeypatch):
    for name in ("_reads", "_writes", "_rest", "shared"):
        monkeypatch.setattr(bursts, name, getattr(bursts, name))
    bursts.open_pipe()
    yield
    os.close(bursts._reads)
    os.close(bursts._writes)


class Request:
    """A message that has ended: the main process lists it no more."""

    id = "message"

    def __init__(self):
        self.followed = []

    def follow(self, end, following):
        self.followed.append((end, following))


def test_a_message_learns_what_it_ran_though_it_has_ended(pipe):
    for number in range(3):
        bursts.report_next_run("message", {"end": number}, {"id": str(number)})
        bursts.report_next_run("another", {"end": number}, {})
    own = Request()
    bursts.read(own)
    assert own.followed == [({"end": number}, {"id": str(number)}) for number in range(3)]
    bursts.read(own)
    assert len(own.followed) == 3


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
