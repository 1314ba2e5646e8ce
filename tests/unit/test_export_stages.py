"""Progress: true, forward only, and not too often."""

import pytest

from exports.render.progress import Cancelled, Meter, Report, percent
from exports.states import Phase


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_phases_share_the_way_and_none_reaches_100() -> None:
    assert percent(Phase.PREPARING, 0, 0) == 0
    assert percent(Phase.RENDERING, 0, 600) == 2
    assert percent(Phase.RENDERING, 300, 600) == 48
    assert percent(Phase.RENDERING, 900, 600) == 94
    assert percent(Phase.FINALIZING, 5, 5) == 99


def test_at_most_four_messages_a_second_but_every_change_of_phase() -> None:
    clock, sent = Clock(), list[Report]()
    meter = Meter(sent.append, clock=clock)
    meter.at(Phase.PREPARING)
    for frame in range(1, 601):
        clock.now += 1 / 200
        meter.at(Phase.RENDERING, frame, 600)
    meter.at(Phase.FINALIZING, 0, 10)
    assert [report.phase for report in sent][:2] == [Phase.PREPARING, Phase.RENDERING]
    assert sent[-1].phase == Phase.FINALIZING
    assert len(sent) <= 3 * 4 + 3
    assert [report.progress for report in sent] == sorted(report.progress for report in sent)


def test_progress_does_not_go_back_when_the_work_turns_out_longer() -> None:
    clock, sent = Clock(), list[Report]()
    meter = Meter(sent.append, clock=clock)
    for done, total in ((50, 100), (60, 1000)):
        clock.now += 1
        meter.at(Phase.RENDERING, done, total)
    assert sent[0].progress == sent[1].progress == 48


def test_the_estimate_is_what_is_left_at_the_speed_so_far() -> None:
    clock, sent = Clock(), list[Report]()
    meter = Meter(sent.append, clock=clock)
    meter.at(Phase.RENDERING, 0, 100)
    clock.now += 2
    meter.at(Phase.RENDERING, 25, 100)
    assert sent[-1].eta_seconds == pytest.approx(6.0)
    assert sent[-1].message() == "25 of 100 frames, 6 s left"


def test_a_cancel_is_noticed_at_the_next_step_even_when_nothing_is_to_be_sent() -> None:
    told = False
    meter = Meter(lambda report: None, lambda: told)
    meter.at(Phase.PREPARING)
    told = True
    with pytest.raises(Cancelled):
        meter.at(Phase.PREPARING)
