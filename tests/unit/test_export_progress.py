"""Progress: accurate, forward only, and limited in rate."""

import pytest

from exports.render.progress import Cancelled, Meter, Report, percent
from exports.states import Phase


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_phases_divide_the_progress_and_none_reaches_100() -> None:
    assert percent(Phase.PREPARING, 0, 0) == 0
    assert percent(Phase.RENDERING, 0, 600) == 2
    assert percent(Phase.RENDERING, 300, 600) == 48
    assert percent(Phase.RENDERING, 900, 600) == 94
    assert percent(Phase.FINALIZING, 5, 5) == 99


def test_reports_are_limited_to_four_a_second_except_for_phases() -> None:
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


def test_progress_does_not_go_back_when_the_total_grows() -> None:
    clock, sent = Clock(), list[Report]()
    meter = Meter(sent.append, clock=clock)
    for done, total in ((50, 100), (60, 1000)):
        clock.now += 1
        meter.at(Phase.RENDERING, done, total)
    assert sent[0].progress == sent[1].progress == 48


def test_the_estimate_is_the_time_left_at_the_speed_so_far() -> None:
    clock, sent = Clock(), list[Report]()
    meter = Meter(sent.append, clock=clock)
    meter.at(Phase.RENDERING, 0, 100)
    clock.now += 2
    meter.at(Phase.RENDERING, 25, 100)
    assert sent[-1].eta_seconds == pytest.approx(6.0)
    assert sent[-1].message() == "25 of 100 frames, 6 s left"


def test_a_cancel_is_noticed_at_the_next_step() -> None:
    cancelled = False
    meter = Meter(lambda report: None, lambda: cancelled)
    meter.at(Phase.PREPARING)
    cancelled = True
    with pytest.raises(Cancelled):
        meter.at(Phase.PREPARING)
